# Two stages: build with the same packages as everybody (./dev), then only the program and the libraries it needs.
#
#   docker build -t dohmux .
#   docker run --rm --read-only --cap-drop=ALL --security-opt=no-new-privileges \
#     -v ./dohmux.yaml:/etc/dohmux/dohmux.yaml:ro -p 127.0.0.1:53:53/udp -p 127.0.0.1:53:53/tcp dohmux
#
# The image brings no configuration on purpose: without one the program prints an example and ends (exit code 2).
# In the container listen on ":53" and widen `access`; with --network=host, or where a container may not bind low
# ports without a capability, listen on a port above 1023.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
WORKDIR /src
COPY dev ./
RUN ./dev setup build
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY include include
COPY src src
RUN cmake --preset release -DBUILD_TESTING=OFF \
 && cmake --build build/release --target dohmux \
 && DESTDIR=/out cmake --install build/release --prefix /usr --strip \
 && ldd /out/usr/sbin/dohmux | awk '/=> \//{print $3}' | xargs -n1 readlink -f | xargs dpkg-query -S | cut -d: -f1 | sort -u >/out/packages

FROM ${BASE}
COPY --from=build /out/packages /tmp/packages
RUN apt-get update \
 && xargs -a /tmp/packages apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* /tmp/packages
COPY --from=build /out/usr/sbin/dohmux /usr/sbin/dohmux
LABEL org.opencontainers.image.title="dohmux" \
      org.opencontainers.image.description="DNS-over-HTTPS forwarding resolver with pinned CONNECT proxies" \
      org.opencontainers.image.licenses="MIT"
USER 10053:10053
EXPOSE 53/udp 53/tcp
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/sbin/dohmux"]
CMD ["run", "-c", "/etc/dohmux/dohmux.yaml"]
