// Opens the kernel's schema and those of the components for references, and joins them.
#include <host/editor_schema.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/describe.hpp>
#include <core/schema/embedded.hpp>
#include <host/editor_value.hpp>
#include <host/meaning.hpp>

namespace tenon::host {
namespace {

using core::find_member;
using core::Json;

/// How a schema is rewritten.
enum class Form {
  kWhole,
  kPartial,  ///< Nothing is required, and null deletes a member.
  kSome,     ///< Nothing is required.
  kRaw,      ///< As it is: names of members, and what is negated.
};

constexpr std::string_view kDraft = "http://json-schema.org/draft-07/schema#";
constexpr std::string_view kDefinitions = "#/definitions/";
constexpr std::string_view kObserver = "observer";

Json reference(const std::string& name) { return {{"$ref", std::string(kDefinitions) + name}}; }

std::string_view text_of(const Json& schema, const char* key) {
  const Json* const value = find_member(schema, key);
  if (value == nullptr || !value->is_string()) return {};
  return value->get_ref<const std::string&>();
}

class Composer {
 public:
  explicit Composer(const core::Catalogue& catalogue)
      : catalogue_(catalogue), pipeline_(Json::parse(core::embedded_schema("pipeline-1"))) {}

  Json pipeline(FileForm form) {
    Json schema{{"$schema", kDraft},
                {"title", "Tenon pipeline, format 1, with the components installed here"},
                {"description", text_of(pipeline_, "description")},
                {"type", "object"}};
    if (form == FileForm::kPartial) {
      schema["title"] = "Tenon overlay, format 1, with the components installed here";
      schema["allOf"] = Json::array({root(Form::kPartial)});
    } else {
      schema["if"] = {{"required", Json::array({"extends"})}};
      schema["then"] = root(Form::kPartial);
      schema["else"] = root(Form::kWhole);
    }
    return finished(std::move(schema));
  }

  Json parameters(const core::ComponentInfo& component) {
    Json schema{{"$schema", kDraft}, {"title", "Tenon: parameters of " + component.id()}};
    schema.update(rewritten(component.parameters, component.parameters, Form::kWhole));
    schema["description"] = component.summary;
    return finished(std::move(schema));
  }

 private:
  Json finished(Json schema) {
    schema["definitions"] = std::move(definitions_);
    return schema;
  }

  /// The definition of that name, which `make` gives when it is asked for the first time.
  template <class Make>
  Json define(const std::string& name, Make make) {
    if (!definitions_.contains(name)) {
      definitions_[name] = Json::object();  // What refers to itself finds it there.
      definitions_[name] = make();
    }
    return reference(name);
  }

  Json root(Form form) {
    return define(form == Form::kPartial ? "overlay" : "pipeline", [&] {
      Json schema = pipeline_;
      for (const char* const key : {"$schema", "title", "description", "definitions"}) schema.erase(key);
      // What is read before references are replaced.
      constexpr const char* kLiteral[]{"$schema", "format", "extends", "vars"};
      Json literal = Json::object();
      for (const char* const key : kLiteral) {
        literal[key] = rewritten(pipeline_["properties"][key], pipeline_, Form::kRaw);
      }
      schema = rewritten(schema, pipeline_, form);
      schema["type"] = "object";
      schema.erase("pattern");
      schema.erase("patternErrorMessage");
      for (const auto& [key, value] : literal.items()) schema["properties"][key] = value;
      return schema;
    });
  }

  /// A definition of the pipeline's schema.
  Json definition(const std::string& name, Form form) {
    const std::string_view prefix = form == Form::kPartial ? "part." : form == Form::kRaw ? "raw." : "";
    return define(fmt::format("{}{}", prefix, name), [&] {
      Json schema = rewritten(pipeline_["definitions"][name], pipeline_, form);
      if (form == Form::kRaw) return schema;
      if (name == "node")
        add_components(
            schema, [](std::string_view kind) { return kind != kObserver; }, form);
      if (name == "attached")
        add_components(
            schema, [](std::string_view kind) { return kind == kObserver; }, form);
      return schema;
    });
  }

  /// The schema of "with" for a component.
  Json with(const core::ComponentInfo& component, Form form) {
    const std::string_view prefix = form == Form::kPartial ? "part" : form == Form::kSome ? "some" : "with";
    return define(fmt::format("{}:{}", prefix, component.id()), [&] {
      Json schema = rewritten(component.parameters, component.parameters, form);
      schema["description"] = fmt::format("Parameters of {}: {}", component.id(), component.summary);
      return schema;
    });
  }

  /// An object with "use" and "with" takes the components of some kinds, each with its own parameters.
  template <class Takes>
  void add_components(Json& schema, Takes takes, Form form) {
    Json names = Json::array();
    Json rules = Json::array();
    for (const std::string& id : catalogue_.ids()) {
      const core::ComponentInfo& component = *catalogue_.find(id);
      if (!takes(component.kind)) continue;
      names.push_back({{"const", id}, {"description", component.summary}});
      Json then{{"properties", {{"with", with(component, form)}}}};
      if (component.kind == "optimizer" && find_member(schema["properties"], "groups") != nullptr) {
        // A group says what differs.
        then["properties"]["groups"]["items"]["properties"]["with"] = with(component, Form::kSome);
      }
      const bool needs = find_member(component.parameters, "required") != nullptr;
      if (needs && form == Form::kWhole) then["required"] = Json::array({"with"});
      rules.push_back({{"if", {{"required", Json::array({"use"})}, {"properties", {{"use", {{"const", id}}}}}}},
                       {"then", std::move(then)}});
    }
    names.push_back(variable_inside());
    if (form == Form::kPartial) names.push_back({{"type", "null"}});
    Json& properties = schema["properties"];
    properties["use"] = {{"description", text_of(properties["use"], "description")}, {"anyOf", std::move(names)}};
    properties["with"].erase("description");  // That of the component's own says more.
    if (!rules.empty()) schema["allOf"] = std::move(rules);
  }

  /// Where a schema stands within another.
  enum class Place { kAlone, kMember, kAlternative };

  /// The schema for editors of a value; `root` is where its references are looked up.
  Json rewritten(const Json& schema, const Json& root, Form form, Place place = Place::kAlone) {
    if (!schema.is_object()) return schema;
    const bool deletes = place == Place::kMember && form == Form::kPartial;
    if (const std::string_view target = text_of(schema, "$ref"); !target.empty()) {
      if (schema.size() == 1 || form == Form::kRaw) {
        Json there = definition(std::string(target.substr(kDefinitions.size())), form);
        return deletes ? deletable(std::move(there)) : there;
      }
      // Validators do not read what stands beside a reference.
      Json merged = core::follow_reference(schema, root);
      for (const auto& [key, value] : schema.items()) {
        if (key != "$ref") merged[key] = value;
      }
      return rewritten(merged, root, form, place);
    }
    Json out = Json::object();
    for (const auto& [key, value] : schema.items()) {
      if (key.starts_with("x-") && form != Form::kRaw) continue;
      const bool demands = key == "required" || key == "minProperties";
      if (demands && (form == Form::kPartial || form == Form::kSome)) continue;
      out[key] = rewritten_keyword(key, value, root, form);
    }
    if (form == Form::kRaw) return out;
    if (const std::string_view kind = text_of(schema, "x-component"); !kind.empty()) {
      add_components(
          out, [&](std::string_view each) { return each == kind; }, Form::kWhole);
    }
    spell_quantity(out, schema);
    const bool secret = find_member(schema, "x-secret") != nullptr;
    if (!secret && place != Place::kAlternative) out = opened(std::move(out), core::describe_wanted(schema, root));
    if (deletes) out = deletable(std::move(out));
    describe(out, schema, root);
    return out;
  }

  Json rewritten_keyword(const std::string& key, const Json& value, const Json& root, Form form) {
    if (key == "properties" || key == "patternProperties") {
      Json members = Json::object();
      for (const auto& [name, member] : value.items()) members[name] = rewritten(member, root, form, Place::kMember);
      return members;
    }
    if (key == "additionalProperties") return rewritten(value, root, form, Place::kMember);
    if (key == "propertyNames" || key == "not") return rewritten(value, root, Form::kRaw);
    // Lists replace: what stands in one is whole.
    if (key == "items") return rewritten(value, root, form == Form::kRaw ? form : Form::kWhole);
    if (key == "anyOf" || key == "oneOf" || key == "allOf") {
      const Place place = key == "allOf" ? Place::kAlone : Place::kAlternative;
      Json all = Json::array();
      for (const Json& each : value) all.push_back(rewritten(each, root, form, place));
      return all;
    }
    return value;
  }

  /// Type and default in words, which editors show beside the description.
  static void describe(Json& out, const Json& schema, const Json& root) {
    const Json* const fallback = find_member(schema, "default");
    if (find_member(schema, "description") == nullptr && fallback == nullptr) return;
    Meaning found = meaning_of(schema, root);
    const bool plain = found.type == "string" || found.type == "any value" || found.type.ends_with("object");
    std::string facts = plain ? std::string() : found.type;
    if (fallback != nullptr && !fallback->is_structured()) {
      facts += fmt::format("{}default {}", facts.empty() ? "" : ", ", fallback->dump());
    }
    if (found.schedulable) facts += ", can be scheduled";
    if (found.description.empty() || facts.empty()) {
      out["description"] = found.description + facts;
    } else {
      out["description"] = fmt::format("{}\n{}", found.description, facts);
    }
  }

  const core::Catalogue& catalogue_;
  Json pipeline_;
  Json definitions_ = Json::object();
};

}  // namespace

Json editor_schema(const core::Catalogue& catalogue, FileForm form) { return Composer(catalogue).pipeline(form); }

Json editor_schema(const core::Catalogue& catalogue, const core::ComponentInfo& component) {
  return Composer(catalogue).parameters(component);
}

}  // namespace tenon::host
