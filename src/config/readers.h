// One function per section of the file. Each fills its part of the draft and reports what is wrong in it.
#pragma once

#include <dohmux/config_load.h>

#include "config/draft.h"

namespace dohmux::config {

/// The whole file.
void read_file(const Field& root, Draft& draft);

void read_listen(const Field& field, Draft& draft);
void read_access(const Field& field, Draft& draft);
void read_web(const Field& field, Draft& draft);
void read_bootstrap(const Field& field, Draft& draft);
void read_upstreams(const Field& field, Draft& draft);
void read_upstream_defaults(const Field& field, Draft& draft);
void read_groups(const Field& field, Draft& draft);
void read_routes(const Field& field, Draft& draft);
void read_records(const Field& field, Draft& draft);
void read_special_names(const Field& field, Draft& draft);
void read_rebinding(const Field& field, Draft& draft);
void read_privacy(const Field& field, Draft& draft);
void read_timeouts(const Field& field, Draft& draft);
void read_limits(const Field& field, Draft& draft);
void read_log(const Field& field, Draft& draft);
void read_transport(const Field& field, Draft& draft);

/// `defaults`: proxy_defaults, if written. Both at once, because an auth that is used by nobody is still checked.
void read_proxies(const std::optional<Field>& field, const std::optional<Field>& defaults, Draft& draft);

/// "127.0.0.1:53", "[::1]:53", ":53" and "53" (both families, IPv6 optional). Error: what is wrong; what would be right.
[[nodiscard]] std::expected<std::vector<ListenConfig>, std::string> parse_listen(std::string_view text);

/// The items as names, none twice; an empty list is reported with `remedy`.
[[nodiscard]] std::vector<Text> read_names(const Field& field, std::string_view remedy);

/// The items as numeric addresses, none twice; nullopt if anything was reported.
[[nodiscard]] std::optional<std::vector<IpAddress>> read_addresses(const Field& field);

/// The way without a file: the words of the command line.
[[nodiscard]] Draft read_options(const CommandLineConfig& options, Diagnostics& diagnostics);

/// The ranges that a word of access.allow stands for; nullopt if it is no such word.
[[nodiscard]] std::optional<std::vector<Prefix>> expand_access_word(std::string_view text);

/// Names of proxies, upstreams and groups: they become labels of metrics and words of commands.
void check_name(const Text& name, Diagnostics& diagnostics);

}  // namespace dohmux::config
