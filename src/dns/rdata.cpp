// RDATA of known types, in one table of shapes. Must not know of sections or policies.
#include "dns/rdata.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "dns/name.h"

namespace dohmux::dns {
namespace {

constexpr std::uint8_t kRest = 255;  // whatever is left

/// RDATA = fixed octets, character strings, names, trailing octets.
struct Shape {
  std::uint16_t type;
  std::uint8_t fixed;
  std::uint8_t strings;
  std::uint8_t names;
  std::uint8_t trailing;
};

constexpr Shape kOpaque{.type = 0, .fixed = 0, .strings = 0, .names = 0, .trailing = kRest};

constexpr std::array kShapes = {
    Shape{kTypeA, 4, 0, 0, 0},         // RFC 1035 §3.4.1
    Shape{kTypeNs, 0, 0, 1, 0},        //
    Shape{3, 0, 0, 1, 0},              // MD
    Shape{4, 0, 0, 1, 0},              // MF
    Shape{kTypeCname, 0, 0, 1, 0},     //
    Shape{kTypeSoa, 0, 0, 2, 20},      //
    Shape{7, 0, 0, 1, 0},              // MB
    Shape{8, 0, 0, 1, 0},              // MG
    Shape{9, 0, 0, 1, 0},              // MR
    Shape{kTypePtr, 0, 0, 1, 0},       //
    Shape{14, 0, 0, 2, 0},             // MINFO
    Shape{kTypeMx, 2, 0, 1, 0},        //
    Shape{17, 0, 0, 2, 0},             // RP, RFC 1183
    Shape{18, 2, 0, 1, 0},             // AFSDB
    Shape{21, 2, 0, 1, 0},             // RT
    Shape{kTypeSig, 18, 0, 1, kRest},  // RFC 2535
    Shape{26, 2, 0, 2, 0},             // PX, RFC 2163
    Shape{kTypeAaaa, 16, 0, 0, 0},     // RFC 3596
    Shape{30, 0, 0, 1, kRest},         // NXT, RFC 2535
    Shape{kTypeSrv, 6, 0, 1, 0},       // RFC 2782
    Shape{kTypeNaptr, 4, 3, 1, 0},     // RFC 3403
    Shape{36, 2, 0, 1, 0},             // KX, RFC 2230
    Shape{kTypeDname, 0, 0, 1, 0},     // RFC 6672
};

const Shape& shape_of(const Record& record) noexcept {
  if (record.rclass != kClassIn) {
    return kOpaque;  // in other classes even A looks different
  }
  const auto* found = std::find_if(kShapes.begin(), kShapes.end(), [&](const Shape& shape) { return shape.type == record.type; });
  return found == kShapes.end() ? kOpaque : *found;
}

/// Reads RDATA along its shape: plain octets go to `octets`, names to `name`. False if it does not fit.
template <typename Octets, typename OnName>
bool walk_rdata(ByteView message, const Record& record, Octets octets, OnName name) {
  const Shape& shape = shape_of(record);
  WireReader reader(message.first(record.end()));
  reader.seek(record.rdata_offset());
  octets(reader.take(shape.fixed));
  for (unsigned i = 0; i < shape.strings; ++i) {
    const std::size_t start = reader.offset();
    reader.skip(reader.u8());
    if (reader.ok()) {
      octets(message.subspan(start, reader.offset() - start));
    }
  }
  for (unsigned i = 0; i < shape.names; ++i) {
    name(read_name(reader));
  }
  octets(reader.take(shape.trailing == kRest ? reader.remaining() : shape.trailing));
  return reader.ok() && reader.remaining() == 0;
}

}  // namespace

bool rdata_is_well_formed(ByteView message, const Record& record) noexcept {
  return walk_rdata(message, record, [](ByteView /*octets*/) {}, [](const Name& /*name*/) {});
}

void write_uncompressed(WireWriter& writer, ByteView message, const Record& record) {
  WireReader reader(message);
  reader.seek(record.offset);
  writer.octets(read_name(reader).wire());
  writer.octets(message.subspan(record.fixed, 8));
  const std::size_t length_at = writer.size();
  writer.u16(0);
  walk_rdata(message, record, [&](ByteView octets) { writer.octets(octets); }, [&](const Name& name) { writer.octets(name.wire()); });
  writer.patch_u16(length_at, static_cast<std::uint16_t>(writer.size() - length_at - 2));
}

}  // namespace dohmux::dns
