/** A program with mistakes in closures, in a language that numbers them or names them by their place. */
export interface CompiledProgram {
  readonly platform: string;
  readonly file: string;
  /** Commands that build and run it in its folder; the last prints its errors, see `ThrownError`. */
  readonly commands: readonly (readonly string[])[];
  /** Source; `MORE` stands for closures that only the second build has, and that renumber all others. */
  readonly source: string;
  readonly more: string;
}

const JAVA = `
import java.util.*;
import java.util.function.*;
public class Shop {
  interface Step { Object run(); }
  static Object pay(Step step) { return step.run(); }
  static Object declined() { MORE return pay(() -> { throw new IllegalStateException("order 17 was declined"); }); }
  static Object stock() { MORE return pay(new Step() { public Object run() { throw new IllegalArgumentException("no stock"); } }); }
  static Object nested() { MORE return pay(() -> List.of(1).stream().map(x -> { MORE return pay(() -> Integer.parseInt("x")); }).toList()); }
  static Object reference() { MORE Function<Object, String> name = Object::toString; return name.apply(null); }
  public static void main(String[] args) {
    Map<String, Step> mistakes = new LinkedHashMap<>();
    MORE
    mistakes.put("declined", () -> declined());
    mistakes.put("stock", () -> stock());
    mistakes.put("nested", () -> nested());
    mistakes.put("reference", () -> reference());
    StringJoiner thrown = new StringJoiner(",", "[", "]");
    mistakes.forEach((label, step) -> {
      try { step.run(); } catch (Throwable error) {
        StringJoiner frames = new StringJoiner(",", "[", "]");
        StackTraceElement[] stack = error.getStackTrace();
        for (int i = stack.length - 1; i >= 0; i--) frames.add(String.format("{\\"module\\":\\"%s\\",\\"function\\":\\"%s\\",\\"filename\\":\\"%s\\",\\"lineno\\":%d,\\"in_app\\":%b}", stack[i].getClassName(), stack[i].getMethodName(), stack[i].getFileName(), Math.max(0, stack[i].getLineNumber()), stack[i].getClassName().startsWith("Shop")));
        thrown.add(String.format("{\\"label\\":\\"java %s\\",\\"type\\":\\"%s\\",\\"value\\":\\"%s\\",\\"frames\\":%s}", label, error.getClass().getSimpleName(), String.valueOf(error.getMessage()).replace("\\"", "'"), frames));
      }
    });
    System.out.println(thrown);
  }
}
`;

const PHP = `<?php
class Payments { public $step; function run() { MORE return (function () { throw new RuntimeException('no card'); })(); } }
$handler = new class { function handle() { throw new LogicException('not handled'); } };
function declined() { MORE return array_map(function ($order) { throw new DomainException("order $order was declined"); }, [17]); }
$mistakes = ['closure' => fn () => (new Payments)->run(), 'anonymous' => fn () => $handler->handle(), 'mapped' => fn () => declined()];
$thrown = [];
foreach ($mistakes as $label => $make) {
  try { $make(); } catch (Throwable $error) {
    $frames = array_map(fn ($frame) => [
      'function' => str_replace("\\0", "\\u{FFFD}", isset($frame['class']) ? $frame['class'] . '::' . $frame['function'] : $frame['function']),
      'filename' => basename($frame['file'] ?? 'internal'), 'abs_path' => $frame['file'] ?? null, 'lineno' => $frame['line'] ?? null, 'in_app' => true,
    ], array_reverse($error->getTrace()));
    $thrown[] = ['label' => "php $label", 'type' => get_class($error), 'value' => $error->getMessage(), 'frames' => $frames];
  }
}
echo json_encode($thrown);
`;

const GO = `
package main

import ("encoding/json"; "fmt"; "runtime"; "strings")

type frame map[string]any
type thrown map[string]any

func pay(step func()) { step() }
func declined() { MORE; pay(func() { panic("order 17 was declined") }) }
func nested() { MORE; pay(func() { MORE; pay(func() { var users map[string]int; users["x"] = 1 }) }) }
func deferred() { MORE; defer func() { panic("not closed") }() }
func generic[T any](values []T) T { MORE; get := func() T { return values[3] }; return get() }

func main() {
  labels := []string{"declined", "nested", "deferred", "generic"}
  MORE
  mistakes := []func(){declined, nested, deferred, func() { generic([]int{}) }}
  all := []thrown{}
  for index, make := range mistakes {
    func() {
      defer func() {
        value := recover()
        pcs := [40]uintptr{}
        stack := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
        frames := []frame{}
        for {
          at, more := stack.Next()
          module, name, _ := strings.Cut(at.Function, ".")
          if module == "main" && name != "main" && !strings.HasPrefix(name, "main.") { frames = append([]frame{{"module": module, "function": name, "lineno": at.Line, "abs_path": at.File, "in_app": true}}, frames...) }
          if !more { break }
        }
        all = append(all, thrown{"label": "go " + labels[index], "type": "panic", "value": fmt.Sprint(value), "frames": frames})
      }()
      make()
    }()
  }
  text, _ := json.Marshal(all)
  fmt.Println(string(text))
}
`;

const CSHARP = `
using System; using System.Collections.Generic; using System.Diagnostics; using System.Linq;
public class Shop {
  static object Pay(Func<object> step) { return step(); }
  static object Declined() { MORE return Pay(() => { throw new InvalidOperationException("order 17 was declined"); }); }
  static object Nested(int order) { MORE return Pay(() => new[] { order }.Select(x => { MORE return Pay(() => int.Parse("x" + order)); }).ToList()); }
  static IEnumerable<int> Items() { MORE yield return 1; throw new ArgumentException("no items"); }
  static async System.Threading.Tasks.Task<int> Later() { await System.Threading.Tasks.Task.Yield(); throw new TimeoutException("too late"); }
  public static void Main() {
    MORE
    var mistakes = new Dictionary<string, Func<object>> { { "declined", () => Declined() }, { "nested", () => Nested(7) }, { "items", () => Items().Count() }, { "later", () => Later().GetAwaiter().GetResult() } };
    var thrown = new List<string>();
    foreach (var mistake in mistakes) {
      try { mistake.Value(); } catch (Exception error) {
        var frames = new StackTrace(error, true).GetFrames().Reverse().Select(frame => { var method = frame.GetMethod(); return "{\\"module\\":\\"" + method.DeclaringType.FullName + "\\",\\"function\\":\\"" + method.Name + "\\",\\"in_app\\":" + (method.DeclaringType.FullName.StartsWith("Shop") ? "true" : "false") + "}"; });
        thrown.Add("{\\"label\\":\\"csharp " + mistake.Key + "\\",\\"type\\":\\"" + error.GetType().FullName + "\\",\\"value\\":\\"" + error.Message.Replace("\\\\", "/").Replace("\\"", "'").Replace("\\n", " ") + "\\",\\"frames\\":[" + string.Join(",", frames) + "]}");
      }
    }
    Console.WriteLine("[" + string.Join(",", thrown) + "]");
  }
}
`;

const CPP = `
#include <cxxabi.h>
#include <execinfo.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <dlfcn.h>
struct Mistake { std::string value; void* stack[40]; int depth; Mistake(std::string said) : value(said) { depth = backtrace(stack, 40); } };
__attribute__((noinline)) int pay(std::function<int(int)> step) { return step(7) + 1; }
__attribute__((noinline)) int declined() { MORE return pay([](int order) -> int { throw Mistake("order 17 was declined"); }) + 1; }
__attribute__((noinline)) int nested() { MORE return pay([](int order) { MORE return pay([order](int) -> int { throw Mistake("no stock"); }) + 1; }) + 1; }
template <class T> __attribute__((noinline)) int sold(T items) { MORE return pay([items](int) -> int { throw Mistake("sold out"); }) + 1; }
int main() {
  const char* labels[] = {"declined", "nested", "sold"};
  int (*mistakes[])() = {declined, nested, [] { return sold(std::string("x")) + 1; }};
  std::string all = "[";
  for (int index = 0; index < 3; index++) {
    try { mistakes[index](); } catch (Mistake& mistake) {
      std::string frames;
      for (int at = mistake.depth - 1; at > 0; at--) {
        Dl_info info; int status = 0;
        if (!dladdr(mistake.stack[at], &info) || !info.dli_sname) continue;
        char* name = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
        std::string function = status == 0 ? name : info.dli_sname;
        if (function.find("libc") == 0 || function == "_start" || function[0] == '_' || function.find("Mistake") == 0) continue;
        frames += (frames.empty() ? "" : ",") + std::string("{\\"in_app\\":true,\\"function\\":\\"") + function + "\\"}";
      }
      all += std::string(index ? "," : "") + "{\\"label\\":\\"cpp " + labels[index] + "\\",\\"type\\":\\"Mistake\\",\\"value\\":\\"" + mistake.value + "\\",\\"frames\\":[" + frames + "]}";
    }
  }
  puts((all + "]").c_str());
}
`;

const ERLANG = `
-module(shop).
-export([main/1]).
pay(Step) -> Result = Step(17), {paid, Result}.
declined() -> MORE, {ok, pay(fun(Order) -> erlang:error({declined, Order}) end)}.
nested() -> MORE, {ok, pay(fun(_) -> MORE, {ok, pay(fun(_) -> erlang:error(no_stock) end)} end)}.
listed() -> MORE, {ok, [erlang:error({item, Item}) || Item <- [1]]}.
json(Text) -> "\\"" ++ [C || C <- lists:flatten(io_lib:format("~p", [Text])), C =/= $", C =/= $\\n, C =/= $\\\\] ++ "\\"".
name(F, A) -> lists:flatten(io_lib:format("~ts/~p", [F, A])).
frame({M, F, A, _}) -> Arity = if is_list(A) -> length(A); true -> A end,
  "{\\"module\\":\\"" ++ atom_to_list(M) ++ "\\",\\"function\\":\\"" ++ name(F, Arity) ++ "\\",\\"in_app\\":" ++ atom_to_list(M =:= shop) ++ "}".
thrown({Label, Make}) ->
  try Make() of _ -> "" catch error:Reason:Stack ->
    "{\\"label\\":\\"erlang " ++ Label ++ "\\",\\"type\\":\\"error\\",\\"value\\":" ++ json(Reason) ++ ",\\"frames\\":[" ++ lists:join(",", [frame(F) || F <- lists:reverse(Stack)]) ++ "]}" end.
main(_) ->
  Mistakes = [{"declined", fun declined/0}, {"nested", fun nested/0}, {"listed", fun listed/0}],
  io:format("[~ts]~n", [lists:flatten(lists:join(",", [thrown(M) || M <- Mistakes]))]).
`;

const PERL = `
use strict; use warnings; use JSON::PP;
sub pay { my ($step) = @_; my $result = $step->(17); return $result }
sub declined { MORE my $x = pay(sub { die "order 17 was declined\\n" }); return $x }
sub nested { MORE my $x = pay(sub { MORE my $y = pay(sub { die "no stock\\n" }); return $y }); return $x }
my %mistakes = (declined => \\&declined, nested => \\&nested);
my @thrown;
for my $label (sort keys %mistakes) {
  my @frames;
  local $SIG{__DIE__} = sub {
    for (my $at = 1; my @call = caller($at); $at++) {
      next if $call[3] eq '(eval)';
      unshift @frames, { function => $call[3], abs_path => $call[1], filename => 'shop.pl', lineno => $call[2], in_app => JSON::PP::true };
    }
  };
  eval { $mistakes{$label}->(); 1 } or push @thrown, { label => "perl $label", type => 'die', value => $@, frames => \\@frames };
}
print encode_json(\\@thrown);
`;

export const COMPILED_PROGRAMS: readonly CompiledProgram[] = [
  {
    platform: 'java',
    file: 'Shop.java',
    commands: [
      ['javac', 'Shop.java'],
      ['java', 'Shop'],
    ],
    source: JAVA,
    more: 'Runnable more = () -> {}; Runnable other = new Runnable() { public void run() {} }; more.run(); other.run();',
  },
  {
    platform: 'php',
    file: 'shop.php',
    commands: [['php', 'shop.php']],
    source: PHP,
    more: '$more = function () {}; $other = new class {}; $more();',
  },
  {
    platform: 'go',
    file: 'shop.go',
    commands: [['go', 'run', '-gcflags=-l', 'shop.go']],
    source: GO,
    more: 'func() {}(); defer func() {}()',
  },
  {
    platform: 'csharp',
    file: 'shop.cs',
    commands: [
      ['mcs', 'shop.cs'],
      ['mono', 'shop.exe'],
    ],
    source: CSHARP,
    more: 'Func<int, int> more = a => a; more(1);',
  },
  {
    platform: 'native',
    file: 'shop.cpp',
    commands: [['g++', '-O1', '-rdynamic', 'shop.cpp', '-o', 'shop', '-ldl'], ['./shop']],
    source: CPP,
    more: 'std::function<int()> more = [] { return 1; }; more();',
  },
  {
    platform: 'erlang',
    file: 'shop.erl',
    commands: [
      ['erlc', 'shop.erl'],
      ['erl', '-noshell', '-eval', 'shop:main([]), halt().'],
    ],
    source: ERLANG,
    more: '(fun() -> ok end)(), [X || X <- []]',
  },
  {
    platform: 'perl',
    file: 'shop.pl',
    commands: [['perl', 'shop.pl']],
    source: PERL,
    more: 'my $more = sub { 1 }; $more->();',
  },
];
