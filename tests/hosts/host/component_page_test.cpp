// Pages of components with parameters of every make: what a reader learns without looking into the schema.
#include <host/component_page.hpp>

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/params.hpp>

namespace tenon::host {
namespace {

struct Column {
  std::string name;
  int64_t width = 1;

  TENON_PARAMS(Column, field(&Column::name, "name", "Name of the column").required(),
               field(&Column::width, "width", "Numbers that it holds").min(1))
};

struct MadeParams {
  std::vector<Column> columns;
  std::map<std::string, Column> extra;
  std::vector<Nested> steps;
  Nested last;
  Secret token;
  std::map<std::string, double> weights;

  TENON_PARAMS(MadeParams, field(&MadeParams::columns, "columns", "Columns in order").required(),
               field(&MadeParams::extra, "extra", "Columns by role"),
               field(&MadeParams::steps, "steps", "What is done first").component("transform"),
               field(&MadeParams::last, "last", "What is done last").component("transform").required(),
               field(&MadeParams::token, "token", "Key of the service").required(),
               field(&MadeParams::weights, "weights", "Weights by name"))
};

core::ComponentInfo made() {
  core::ComponentInfo info;
  info.kind = "dataset";
  info.name = "made";
  info.summary = "Made up";
  info.parameters = core::Json::parse(schema_of(MadeParams::tenon_fields()));
  return info;
}

TEST(ComponentPage, ShowsWhatListsAndMapsHoldAndHowComponentsAndSecretsAreWritten) {
  const std::string page = component_page(made(), {}, Console(ColorChoice::kNever));
  const std::string table =
      page.substr(page.find("Parameters"), page.find("\nIn a pipeline") - page.find("Parameters"));
  EXPECT_EQ(table, R"(Parameters
  columns           list of object            required  Columns in order
  columns[].name    string                    required  Name of the column
  columns[].width   integer >= 1              1         Numbers that it holds
  extra             map of object             {}        Columns by role
  extra.NAME.name   string                    required  Name of the column
  extra.NAME.width  integer >= 1              1         Numbers that it holds
  steps             list of { "use": "transform:…" }  []        What is done first
  last              { "use": "transform:…" }  required  What is done last
  token             { "env": "…" }            required  Key of the service
  weights           map of number             {}        Weights by name
)");
}

TEST(ComponentPage, TheSnippetShowsAWholeElementOfAListAndBreaksWhereItIsLong) {
  EXPECT_EQ(snippet(made()), R"("made": { "use": "dataset:made",
          "with": { "columns": [{ "name": "TEXT", "width": 1 }],
                    "last": { "use": "transform:NAME" },
                    "token": { "env": "NAME" } } })");
}

}  // namespace
}  // namespace tenon::host
