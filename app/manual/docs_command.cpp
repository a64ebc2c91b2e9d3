// imgpipe docs man|bash|zsh|fish|files [COMMAND]
#include <array>
#include <string_view>

#include "app/manual/completions.h"
#include "app/manual/man_page.h"
#include "app/manual/manual_options.h"
#include "app/options/option_parser.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::string man_file(const CommandRow& command) {
  return "man1/" + man_name(command) + ".1";
}

// "FILE ARGUMENTS...", a line each: imgpipe ARGUMENTS makes FILE.
std::string package_files(const Parser& parser) {
  std::string text;
  for (const CommandRow& command : parser.commands())
    text += man_file(command) + " docs man" + (command.name.empty() ? "" : " ") + std::string(command.name) +
            "\n";
  return text +
         "completions/imgpipe docs bash\n"
         "completions/_imgpipe docs zsh\n"
         "completions/imgpipe.fish docs fish\n";
}

std::string man_page_of(const Parser& parser) {
  const std::string name = parser.more().empty() ? "" : parser.more().front();
  const CommandRow* command = find_command(parser.commands(), name);
  if (command == nullptr) usage("docs man: " + none_of(name, command_names(parser.commands())));
  return man_page(*command, parser.commands());
}

struct Kind {
  std::string_view name;
  std::string (*text)(const Parser&);
};
constexpr std::array<Kind, 5> kKinds{
    {{"man", man_page_of},
     {"bash", [](const Parser& parser) { return bash_completion(parser.commands()); }},
     {"zsh", [](const Parser& parser) { return zsh_completion(parser.commands()); }},
     {"fish", [](const Parser& parser) { return fish_completion(parser.commands()); }},
     {"files", package_files}}};

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

ReadyCommand read_docs(const Parser& parser) {
  const std::vector<std::string_view> kinds = kind_names();
  if (!parser.has("kind")) usage("KIND is missing: one of " + joined(kinds) + "; see imgpipe docs --help");
  const std::string name = parser.text("kind");
  if (parser.more().size() > (name == "man" ? 1U : 0U))
    usage("one argument too many: '" + printable(parser.more().back()) + "'");
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return ready(kind.text(parser));
  }
  usage("docs: " + none_of(name, kinds));
}

}  // namespace

CommandRow docs_command() {
  return {.name = "docs",
          .summary = "man pages, and completions for shells",
          .description =
              "Prints the man page of a command, or what makes a shell complete imgpipe's options, "
              "stages and names.",
          .usage = {{"imgpipe docs man [COMMAND]", "the man page of a command, in roff"},
                    {"imgpipe docs bash|zsh|fish", "completions for a shell"},
                    {"imgpipe docs files", "what a package holds of both, and how each is made"}},
          .call = "imgpipe docs man|bash|zsh|fish",
          .positional = {"kind"},
          .takes_more = true,
          .needs_all = false,
          .rows = manual_rows,
          .topics =
              [](Commands commands) {
                return std::vector<TopicWords>{{"docs", strings(kind_names())},
                                               {"docs man", strings(command_names(commands))}};
              },
          .exits = {kExitDone, kExitUsage, kExitOutput},
          .read = read_docs};
}

}  // namespace imgpipe
