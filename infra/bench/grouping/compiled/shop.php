<?php
class Payments { public $step; function run() { MORE return (function () { throw new RuntimeException('no card'); })(); } }
$handler = new class { function handle() { throw new LogicException('not handled'); } };
function declined() { MORE return array_map(function ($order) { throw new DomainException("order $order was declined"); }, [17]); }
$mistakes = ['closure' => fn () => (new Payments)->run(), 'anonymous' => fn () => $handler->handle(), 'mapped' => fn () => declined()];
$thrown = [];
foreach ($mistakes as $label => $make) {
  try { $make(); } catch (Throwable $error) {
    $frames = array_map(fn ($frame) => [
      'function' => str_replace("\0", "\u{FFFD}", isset($frame['class']) ? $frame['class'] . '::' . $frame['function'] : $frame['function']),
      'filename' => basename($frame['file'] ?? 'internal'), 'abs_path' => $frame['file'] ?? null, 'lineno' => $frame['line'] ?? null, 'in_app' => true,
    ], array_reverse($error->getTrace()));
    $thrown[] = ['label' => "php $label", 'type' => get_class($error), 'value' => $error->getMessage(), 'frames' => $frames];
  }
}
echo json_encode($thrown);
