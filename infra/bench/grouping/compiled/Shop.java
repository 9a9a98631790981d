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
        for (int i = stack.length - 1; i >= 0; i--) frames.add(String.format("{\"module\":\"%s\",\"function\":\"%s\",\"filename\":\"%s\",\"lineno\":%d,\"in_app\":%b}", stack[i].getClassName(), stack[i].getMethodName(), stack[i].getFileName(), Math.max(0, stack[i].getLineNumber()), stack[i].getClassName().startsWith("Shop")));
        thrown.add(String.format("{\"label\":\"java %s\",\"type\":\"%s\",\"value\":\"%s\",\"frames\":%s}", label, error.getClass().getSimpleName(), String.valueOf(error.getMessage()).replace("\"", "'"), frames));
      }
    });
    System.out.println(thrown);
  }
}
