// Every key, word and reference of a whole pipeline with one letter lost: one error, at its place, with the original.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/json/pointer.hpp>
#include <core/json/reader.hpp>
#include <core/resolve/resolve.hpp>
#include <core/resolve/scratch.hpp>
#include <core/text/render.hpp>

namespace tenon::core {
namespace {

const std::string kWhole = R"({
  "$schema": "pipeline-1.schema.json",
  "format": 1,
  "name": "whole",
  "vars": { "epochs": 25, "rate": 0.002 },
  "run":  { "seed": 7, "device": "auto", "determinism": "strict", "float32": "ieee", "threads": "auto",
            "autotune": "off", "distributed": "auto", "dir": "runs" },
  "nodes": {
    "train": { "use": "loader:threads", "in": "data", "with": { "batch": 64 } },
    "net":   { "use": "model:cnn", "in": { "image": "batch.image" } },
    "opt":   { "use": "optimizer:adamw", "of": "net", "with": { "lr": "${vars.rate}" },
               "groups": [ { "match": "*.bias", "with": { "weight_decay": 0 } } ] },
    "sched": { "use": "schedule:cosine", "of": "opt", "field": "lr", "disabled": true }
  },
  "fit":        { "data": "train", "loss": "loss", "precision": "prec", "epochs": "${vars.epochs}",
                  "accumulate": 1, "clip": { "norm": 1.0 } },
  "validate":   { "data": "train", "metrics": ["acc"], "every": "1 epoch" },
  "test":       { "data": "train", "metrics": ["acc"] },
  "checkpoint": { "every": "500 steps", "keep": { "last": 2, "best": { "metric": "acc", "count": 1 } } },
  "stop":       [ { "use": "observer:patience", "with": { "metric": "acc" } } ],
  "observe":    [ { "use": "observer:console" } ],
  "export":     [ "script" ]
}
)";

/// A word within the text, and what should be said when a letter of it is lost.
struct Word {
  std::string pointer;
  std::size_t begin = 0;  ///< Of the word in the text.
  std::string word;
  std::size_t place = 0;  ///< Of the key or the string that holds it.
};

bool is_free(const std::string& pointer) {
  // Names that the file introduces, and parameters, which are their components' business.
  const std::vector<std::string> segments = split_pointer(pointer);
  if (segments.size() == 2 && (segments[0] == "vars" || segments[0] == "nodes")) return true;
  for (std::size_t i = 1; i + 1 < segments.size(); ++i) {
    if (segments[i] == "with" || segments[i] == "in") return true;
  }
  return false;
}

void collect_keys(const Json& value, const PlaceTable& places, const std::string& pointer, std::vector<Word>& words) {
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    const std::string child = child_pointer(pointer, key);
    if (value.is_object() && !is_free(child)) {
      const std::size_t place = places.find(child)->key.begin;
      words.push_back({child, place + 1, key, place});
    }
    collect_keys(member, places, child, words);
  }
}

std::vector<Word> all_words() {
  Diagnostics diagnostics;
  const Document document = read_json(std::make_shared<const Source>("pipe.json", kWhole), diagnostics);
  std::vector<Word> words;
  collect_keys(document.value, document.places, "", words);
  for (const char* pointer : {"/run/device", "/run/determinism", "/run/float32", "/run/threads", "/run/autotune"}) {
    const std::size_t place = document.places.find(pointer)->value.begin;
    words.push_back(
        {pointer, place + 1, *document.value.at(Json::json_pointer(pointer)).get_ptr<const std::string*>(), place});
  }
  for (const std::string name : {"rate", "epochs"}) {
    const std::size_t begin = kWhole.find(fmt::format("${{vars.{}}}", name));
    const std::string pointer = name == "rate" ? "/nodes/opt/with/lr" : "/fit/epochs";
    words.push_back({pointer, begin + 7, name, begin - 1});
    words.push_back({pointer, begin + 2, "vars", begin - 1});
  }
  for (const std::string unit : {"1 epoch", "500 steps"}) {
    const std::size_t begin = kWhole.find(unit);
    const std::size_t blank = unit.find(' ') + 1;
    words.push_back(
        {unit == "1 epoch" ? "/validate/every" : "/checkpoint/every", begin + blank, unit.substr(blank), begin - 1});
  }
  return words;
}

TEST(OneLetterLost, TheWholePipelineIsRight) { EXPECT_EQ(resolve_text(kWhole).found(), Found{}); }

TEST(OneLetterLost, IsOneErrorAtItsPlaceWithTheOriginalSuggested) {
  const std::vector<Word> words = all_words();
  EXPECT_GT(words.size(), 60U);
  const Source source("pipe.json", kWhole);
  for (const Word& word : words) {
    for (std::size_t i = 0; i < word.word.size(); ++i) {
      std::string text = kWhole;
      text.erase(word.begin + i, 1);
      // "step" and "epoch" are units too.
      if (word.word == "steps" && i == 4) continue;
      const Outcome outcome = resolve_text(text);
      ASSERT_EQ(outcome.diagnostics.errors(), 1U) << word.pointer << " " << word.word << "\n"
                                                  << render_text(outcome.diagnostics);
      EXPECT_EQ(outcome.diagnostics.exit_code(), 2);
      const Diagnostic& error = outcome.diagnostics.all().front();
      EXPECT_EQ(error.span.position(), source.position(word.place)) << render_text(error);
      EXPECT_NE(error.label.find(word.word), std::string::npos) << render_text(error);
      EXPECT_NE(error.label.find("did you mean"), std::string::npos) << render_text(error);
    }
  }
}

}  // namespace
}  // namespace tenon::core
