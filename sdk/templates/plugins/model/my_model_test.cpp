// MyModel: one score a class for images of any size, and gradients that are right.
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gradients.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/network.hpp>

namespace {

using tenon::Dtype;
using tenon::harness::make;

const tenon::Spec& images() {
  static const tenon::Spec spec{{"image", Dtype::kFloat32, {"N", 3, "H", "W"}}};
  return spec;
}

TEST(MyModel, GivesOneScoreAClassForImagesOfAnySize) {
  const auto model = make<tenon::Model>("my_model", R"({"classes": 5, "width": 4})");
  tenon::harness::build(*model, images());
  for (const auto& [batch, height, width] : {std::tuple{2, 8, 8}, {3, 6, 10}, {1, 1, 1}}) {
    const tenon::Tensors in{{"image", at::rand({batch, 3, height, width})}};
    EXPECT_EQ(tenon::harness::run(model->root(), in, false).at("logits").sizes(), (at::IntArrayRef{batch, 5}));
  }
}

TEST(MyModel, KeepsTheNamesOfItsWeights) {
  const auto model = make<tenon::Model>("my_model", R"({"classes": 5, "blocks": 1})");
  tenon::harness::build(*model, images());
  EXPECT_EQ(tenon::harness::param_names(model->root()),
            (std::vector<std::string>{"stem.weight", "stem.bias", "block1.scale", "block1.conv.weight",
                                      "block1.norm.weight", "block1.norm.bias", "head.weight", "head.bias"}));
}

TEST(MyModel, HasTheGradientsThatDifferencesShow) {
  const auto model = make<tenon::Model>("my_model", R"({"classes": 3, "width": 4})");
  tenon::harness::build(*model, images(), 1, at::kDouble);
  for (const auto& fault : tenon::harness::check_gradients(*model, {{"image", at::rand({2, 3, 5, 4})}})) {
    ADD_FAILURE() << tenon::harness::to_string(fault);
  }
}

TEST(MyModel, RefusesWhatIsNoImage) {
  const auto model = make<tenon::Model>("my_model", R"({"classes": 3})");
  EXPECT_TRUE(tenon::harness::refused(
      [&] {
        model->build({{"image", Dtype::kFloat32, {"N", 7}}});
      },
      tenon::ErrorCode::kConfig, "", "[N, C, H, W]"));
}

}  // namespace
