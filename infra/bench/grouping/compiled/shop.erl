-module(shop).
-export([main/1]).
pay(Step) -> Result = Step(17), {paid, Result}.
declined() -> MORE, {ok, pay(fun(Order) -> erlang:error({declined, Order}) end)}.
nested() -> MORE, {ok, pay(fun(_) -> MORE, {ok, pay(fun(_) -> erlang:error(no_stock) end)} end)}.
listed() -> MORE, {ok, [erlang:error({item, Item}) || Item <- [1]]}.
json(Text) -> "\"" ++ [C || C <- lists:flatten(io_lib:format("~p", [Text])), C =/= $", C =/= $\n, C =/= $\\] ++ "\"".
name(F, A) -> lists:flatten(io_lib:format("~ts/~p", [F, A])).
frame({M, F, A, _}) -> Arity = if is_list(A) -> length(A); true -> A end,
  "{\"module\":\"" ++ atom_to_list(M) ++ "\",\"function\":\"" ++ name(F, Arity) ++ "\",\"in_app\":" ++ atom_to_list(M =:= shop) ++ "}".
thrown({Label, Make}) ->
  try Make() of _ -> "" catch error:Reason:Stack ->
    "{\"label\":\"erlang " ++ Label ++ "\",\"type\":\"error\",\"value\":" ++ json(Reason) ++ ",\"frames\":[" ++ lists:join(",", [frame(F) || F <- lists:reverse(Stack)]) ++ "]}" end.
main(_) ->
  Mistakes = [{"declined", fun declined/0}, {"nested", fun nested/0}, {"listed", fun listed/0}],
  io:format("[~ts]~n", [lists:flatten(lists:join(",", [thrown(M) || M <- Mistakes]))]).
