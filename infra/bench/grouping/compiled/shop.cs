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
        var frames = new StackTrace(error, true).GetFrames().Reverse().Select(frame => { var method = frame.GetMethod(); return "{\"module\":\"" + method.DeclaringType.FullName + "\",\"function\":\"" + method.Name + "\",\"in_app\":" + (method.DeclaringType.FullName.StartsWith("Shop") ? "true" : "false") + "}"; });
        thrown.Add("{\"label\":\"csharp " + mistake.Key + "\",\"type\":\"" + error.GetType().FullName + "\",\"value\":\"" + error.Message.Replace("\\", "/").Replace("\"", "'").Replace("\n", " ") + "\",\"frames\":[" + string.Join(",", frames) + "]}");
      }
    }
    Console.WriteLine("[" + string.Join(",", thrown) + "]");
  }
}
