// A connection over uv_tcp_t.
// It must not know what the octets mean, nor decide how much may wait: its owner watches unsent().
#include "event/tcp_stream.h"

#include <sys/socket.h>
#include <uv.h>

#include <array>
#include <cerrno>
#include <utility>

#include "event/callback_slot.h"
#include "event/handle.h"

namespace dohmux::event {

namespace {

constexpr std::size_t kReadChunk = 65536;
constexpr std::size_t kMaxDiscard = std::size_t{1} << 20U;

// Owns its octets and has no way back to the stream object: the stream may be gone when the kernel is done.
struct WriteRequest {
  uv_write_t request{};
  Bytes octets;
};

}  // namespace

struct TcpStream::Impl {
  using TcpHandle = Handle<uv_tcp_t, Impl>;

  Impl(Loop& owner_loop, Handlers handlers)
      : loop(owner_loop), data(std::move(handlers.data)), end(std::move(handlers.end)), drained(std::move(handlers.drained)) {}

  [[nodiscard]] uv_stream_t* stream() const noexcept { return reinterpret_cast<uv_stream_t*>(tcp.get()); }
  static Impl* owner_of(const uv_stream_t* stream) noexcept { return TcpHandle::owner_of(reinterpret_cast<const uv_tcp_t*>(stream)); }

  void open(UniqueFd socket);
  void ended(int error);
  void ended_later(int error);
  void written(int status);
  static void give_buffer(uv_handle_t* handle, std::size_t suggested, uv_buf_t* buffer) noexcept;
  static void received(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) noexcept;
  static void written_by(uv_write_t* request, int status) noexcept;

  Loop& loop;
  CallbackSlot<ByteView> data;
  CallbackSlot<int> end;
  CallbackSlot<> drained;
  std::size_t requests = 0;  // handed to libuv and not told of yet
  TcpHandle tcp;
  std::unique_ptr<Timer> failure;
  bool finished = false;  // `end` has told of the peer's FIN
  bool failed = false;    // `end` has told of an error
};

void TcpStream::Impl::open(UniqueFd socket) {
  int status = tcp.open(*this, [this](uv_tcp_t* handle) { return uv_tcp_init(loop.uv(), handle); });
  if (status == 0) {
    status = uv_tcp_open(tcp.get(), socket.get());
  }
  if (status != 0) {
    ended_later(-status);
    return;
  }
  socket.release();
  uv_tcp_nodelay(tcp.get(), 1);  // RFC 7766 §8 wants few segments, not late ones
}

void TcpStream::Impl::ended_later(int error) {
  tcp.close();
  failure = loop.after(Duration::zero(), [this, error] { ended(error); });
}

void TcpStream::Impl::ended(int error) {
  bool& told = error == 0 ? finished : failed;
  if (!failed && !told) {
    told = true;
    end(error);
  }
}

// One buffer for all streams of a thread: libuv hands it to received() before anybody else can ask for one.
void TcpStream::Impl::give_buffer(uv_handle_t*, std::size_t, uv_buf_t* buffer) noexcept {
  thread_local std::array<char, kReadChunk> chunk;
  *buffer = uv_buf_init(chunk.data(), chunk.size());
}

void TcpStream::Impl::received(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) noexcept {
  Impl* self = owner_of(stream);
  if (self == nullptr || count == 0) {
    return;
  }
  if (count > 0) {
    self->data(ByteView(reinterpret_cast<const std::uint8_t*>(buffer->base), static_cast<std::size_t>(count)));
    return;
  }
  uv_read_stop(stream);
  self->ended(count == UV_EOF ? 0 : static_cast<int>(-count));
}

void TcpStream::Impl::written_by(uv_write_t* request, int status) noexcept {
  Impl* self = owner_of(request->handle);
  delete reinterpret_cast<WriteRequest*>(request);  // its first member
  if (self != nullptr) {
    self->written(status);
  }
}

void TcpStream::Impl::written(int status) {
  --requests;
  if (status != 0) {
    uv_read_stop(stream());
    ended(-status);
  } else if (requests == 0) {  // newer libuv tells of several requests when all have been written
    drained();
  }
}

TcpStream::TcpStream(Loop& loop, UniqueFd socket, Handlers handlers) : impl_(std::make_unique<Impl>(loop, std::move(handlers))) {
  impl_->open(std::move(socket));
}

TcpStream::~TcpStream() = default;

void TcpStream::start_reading() {
  if (impl_->tcp.is_open() && !impl_->finished && !impl_->failed) {
    uv_read_start(impl_->stream(), &Impl::give_buffer, &Impl::received);
  }
}

void TcpStream::stop_reading() {
  if (impl_->tcp.is_open()) {
    uv_read_stop(impl_->stream());
  }
}

void TcpStream::write(Bytes octets) {
  if (!impl_->tcp.is_open() || octets.empty()) {
    return;
  }
  uv_buf_t buffer = uv_buf_init(reinterpret_cast<char*>(octets.data()), static_cast<unsigned>(octets.size()));
  // Most answers fit into the kernel's buffer: no request, no callback, no further turn of the loop.
  const int taken = uv_try_write(impl_->stream(), &buffer, 1);
  if (taken == static_cast<int>(octets.size())) {
    return;
  }
  auto request = std::make_unique<WriteRequest>();
  request->octets = std::move(octets);
  const std::size_t offset = taken > 0 ? static_cast<std::size_t>(taken) : 0;
  buffer = uv_buf_init(reinterpret_cast<char*>(request->octets.data() + offset), static_cast<unsigned>(request->octets.size() - offset));
  const int status = uv_write(&request->request, impl_->stream(), &buffer, 1, &Impl::written_by);
  if (status == 0) {
    static_cast<void>(request.release());  // freed by written_by
    ++impl_->requests;
  } else {
    impl_->ended_later(-status);
  }
}

std::size_t TcpStream::unsent() const noexcept {
  return impl_->tcp.is_open() ? uv_stream_get_write_queue_size(impl_->stream()) : 0;
}

void TcpStream::finish() {
  if (!impl_->tcp.is_open()) {
    return;
  }
  auto request = std::make_unique<uv_shutdown_t>();
  const int status = uv_shutdown(request.get(), impl_->stream(), [](uv_shutdown_t* done, int) noexcept { delete done; });
  if (status == 0) {
    static_cast<void>(request.release());
  }
}

void TcpStream::discard_input() noexcept {
  uv_os_fd_t fd = -1;
  if (!impl_->tcp.is_open() || uv_fileno(reinterpret_cast<const uv_handle_t*>(impl_->tcp.get()), &fd) != 0) {
    return;
  }
  std::size_t total = 0;
  ssize_t count = 1;
  while (count > 0 && total < kMaxDiscard) {
    count = ::recv(fd, nullptr, kReadChunk, MSG_TRUNC | MSG_DONTWAIT);  // MSG_TRUNC: dropped in the kernel, not copied (tcp(7))
    total += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
}

}  // namespace dohmux::event
