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
        frames += (frames.empty() ? "" : ",") + std::string("{\"in_app\":true,\"function\":\"") + function + "\"}";
      }
      all += std::string(index ? "," : "") + "{\"label\":\"cpp " + labels[index] + "\",\"type\":\"Mistake\",\"value\":\"" + mistake.value + "\",\"frames\":[" + frames + "]}";
    }
  }
  puts((all + "]").c_str());
}
