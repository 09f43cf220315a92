// Calls what no library has.
namespace at {
int nowhere(int);
}
namespace cv {
int imnowhere(int);
}
[[gnu::used]] int call_nowhere() { return at::nowhere(1) + cv::imnowhere(2); }
