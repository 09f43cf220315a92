// dataset:rows_in_memory.
#include <embed/rows_dataset.hpp>

#include <cstring>
#include <string>
#include <utility>

#include <core/plugin/linked.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/registration.hpp>

namespace tenon::kernel {
namespace {

class RowsDataset final : public Dataset {
 public:
  explicit RowsDataset(std::shared_ptr<const Rows> rows) : rows_(std::move(rows)) {}

  [[nodiscard]] Spec spec() const override { return rows_->fields; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return rows_->count; }
  [[nodiscard]] std::string fingerprint() const override { return "memory"; }

  void read(int64_t index, Sample& out) const override {
    for (std::size_t field = 0; field < rows_->fields.size(); ++field) {
      const Array to = out.allocate(static_cast<int>(field), rows_->fields[field].dtype, rows_->row_shapes[field]);
      std::memcpy(to.data, rows_->data[field] + static_cast<std::size_t>(index) * to.bytes(), to.bytes());
    }
  }

 private:
  std::shared_ptr<const Rows> rows_;
};

Port port_of(const FieldSpec& field) {
  Port port = Port::of(field.name, {field.dtype}, {});
  for (const Dim& dim : field.shape) {
    port.any_shape = port.any_shape || !dim.fixed();
    port.shape.emplace_back(dim.size);
  }
  if (port.any_shape) port.shape.clear();
  return port;
}

}  // namespace

core::PluginInfo rows_plugin(std::shared_ptr<const Rows> rows) {
  detail::Description description;
  description.interface = Dataset::kInterface;
  description.revision = Dataset::kRevision;
  description.name = "rows_in_memory";
  description.summary = "Rows that a program gives in memory";
  description.fields = &NoParams::tenon_fields();
  for (const FieldSpec& field : rows->fields) description.ports.out.push_back(port_of(field));
  core::LinkedEntry entry{detail::describe(description), description.interface, description.revision,
                          &detail::destroy<RowsDataset>,
                          [rows = std::move(rows)](const char* /*params*/, const ErrorSink& sink) -> Component* {
                            try {
                              return new RowsDataset(rows);
                            } catch (...) {
                              detail::report_current(sink);
                              return nullptr;
                            }
                          }};
  return core::linked_plugin("org.tenon.embedding", TENON_VERSION, {std::move(entry)});
}

}  // namespace tenon::kernel
