// The lifetime rule of every libuv handle (architecture.md "Handles"): the C handle lives in a heap box of its own,
// the owner only points at the box. Destroying the owner detaches it first and closes then, so that no callback
// finds it afterwards; the box is freed by the close callback. For the classes of src/event only.
#pragma once

#include <uv.h>

#include <memory>
#include <utility>

namespace dohmux::event {

template <typename UvT, typename Owner>
class Handle {
 public:
  Handle() = default;
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// Makes the handle; `init` is the uv_*_init of its type and gets the UvT*. Not zero: libuv's error, nothing exists.
  template <typename Init>
  [[nodiscard]] int open(Owner& owner, Init init) {
    auto box = std::make_unique<Box>();
    const int status = init(&box->uv);
    if (status == 0) {
      box->owner = &owner;
      box->uv.data = box.get();
      close();
      box_ = box.release();
    }
    return status;
  }

  /// Detaches the owner at once; libuv lets go of the memory later. Harmless when nothing is open.
  void close() noexcept {
    if (Box* box = std::exchange(box_, nullptr); box != nullptr) {
      box->owner = nullptr;
      uv_close(reinterpret_cast<uv_handle_t*>(&box->uv), [](uv_handle_t* closed) noexcept { delete static_cast<Box*>(closed->data); });
    }
  }

  [[nodiscard]] bool is_open() const noexcept { return box_ != nullptr; }
  [[nodiscard]] UvT* get() const noexcept { return &box_->uv; }

  /// For trampolines: whom this handle belongs to; null once it is detached. A handle of another type does not compile.
  [[nodiscard]] static Owner* owner_of(const UvT* uv) noexcept { return static_cast<Box*>(uv->data)->owner; }

 private:
  struct Box {
    UvT uv{};
    Owner* owner = nullptr;
  };
  Box* box_ = nullptr;  // owned by libuv between open() and the close callback
};

}  // namespace dohmux::event
