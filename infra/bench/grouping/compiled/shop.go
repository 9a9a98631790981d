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
