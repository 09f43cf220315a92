// dataset:subset: items of another dataset, by a list or by a range.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <files/content_hash.hpp>
#include <selection/selection.hpp>
#include <subset/indices.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

struct SubsetParams {
  std::vector<int64_t> indices;
  std::optional<std::filesystem::path> file;
  int64_t from = 0;
  std::optional<int64_t> to;
  int64_t step = 1;

  TENON_PARAMS(
      SubsetParams,
      field(&SubsetParams::indices, "indices", "Items, counted from 0, in this order; one may come twice").min(0),
      field(&SubsetParams::file, "file",
            "File of such a list, instead: text with one number a line, or .npy of int64 or int32")
          .word("none"),
      field(&SubsetParams::from, "from",
            "Without a list: the first item of a range; below 0 it is counted from the end"),
      field(&SubsetParams::to, "to", "The item behind the range's last one, likewise").word("end"),
      field(&SubsetParams::step, "step", "Takes one in so many of the items of the range").min(1))
};

class Subset final : public Selection {
 public:
  explicit Subset(SubsetParams params) : Selection("takes items of"), params_(std::move(params)) {
    const bool range = params_.from != 0 || params_.to || params_.step != 1;
    const int ways = (params_.indices.empty() ? 0 : 1) + (params_.file ? 1 : 0) + (range ? 1 : 0);
    if (ways > 1) {
      throw Error(ErrorCode::kConfig,
                  "give the items in one way: \"indices\", or \"file\", or \"from\", \"to\" and \"step\"",
                  params_.file ? "/file" : "/indices");
    }
  }

  static Ports ports() { return {{Port::pass_all()}, {Port::pass_all()}}; }
  static Example example() { return {.params = R"({"from": -20, "step": 3})", .files = {}, .inputs = {}}; }

  [[nodiscard]] int64_t size() const override {
    return listed() ? static_cast<int64_t>(list_.size()) : (end_ - begin_ - 1) / params_.step + 1;
  }

  [[nodiscard]] std::string fingerprint() const override {
    const std::string chosen =
        listed() ? std::to_string(list_.size()) + ":" + hex(content_hash(std::as_bytes(std::span(list_))))
                 : std::to_string(begin_) + "-" + std::to_string(end_) + "/" + std::to_string(params_.step);
    return "subset-1:" + chosen + ":" + input().fingerprint();
  }

 private:
  [[nodiscard]] bool listed() const noexcept { return params_.file || !params_.indices.empty(); }

  void choose(const Dataset& input) override {
    const int64_t count = input.size();
    if (listed()) {
      list_ = params_.file ? read_indices(*params_.file, "/file") : params_.indices;
      check_list(count);
      return;
    }
    const auto place = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + count : index, 0, count); };
    begin_ = place(params_.from);
    end_ = params_.to ? place(*params_.to) : count;
    if (begin_ >= end_) {
      throw Error(ErrorCode::kData,
                  "the range holds none of the input's " + std::to_string(count) + " items: from " +
                      std::to_string(params_.from) + " to " + (params_.to ? std::to_string(*params_.to) : "the end"),
                  "/from");
    }
  }

  void check_list(int64_t count) const {
    const std::string from = params_.file ? params_.file->string() + ": " : std::string();
    const std::string pointer = params_.file ? "/file" : "/indices";
    if (list_.empty()) throw Error(ErrorCode::kData, from + "lists no item", pointer);
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (list_[i] >= 0 && list_[i] < count) continue;
      throw Error(ErrorCode::kData,
                  from + "there is no item " + std::to_string(list_[i]) + ": the input has " + std::to_string(count) +
                      ", counted from 0",
                  params_.file ? pointer : pointer + "/" + std::to_string(i));
    }
  }

  [[nodiscard]] int64_t source(int64_t index) const noexcept override {
    return listed() ? list_[static_cast<std::size_t>(index)] : begin_ + index * params_.step;
  }

  SubsetParams params_;
  std::vector<int64_t> list_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

TENON_COMPONENT(Subset, SubsetParams, "subset",
                "Items of another dataset: by a list of numbers, a file of them or a range")

}  // namespace tenon::datasets
