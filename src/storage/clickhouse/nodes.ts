/** Time for which a node that failed is left alone: doubled each time, up to the maximum. */
const REST_MS = 500;
const REST_MS_MAX = 30_000;

interface Node {
  failures: number;
  restsUntilMs: number;
}

/**
 * Chooses which of several equal nodes to ask: the one that this process prefers, or the next while that one has failed
 * lately. Processes prefer different nodes, and stay with theirs, so that load is spread and caches stay warm.
 */
export class Nodes {
  readonly #nodes: readonly Node[];
  readonly #preferred: number;

  constructor(count: number, preferred: number) {
    this.#nodes = Array.from({ length: count }, () => ({ failures: 0, restsUntilMs: Number.NEGATIVE_INFINITY }));
    this.#preferred = preferred % count;
  }

  /** All of them, in the order in which to ask: those that rest come last, the one that has rested longest first. */
  order(nowMs: number): number[] {
    const count = this.#nodes.length;
    const inTurn = Array.from({ length: count }, (_, index) => (this.#preferred + index) % count);
    const restOf = (index: number): number => Math.max(0, (this.#nodes[index]?.restsUntilMs ?? 0) - nowMs);
    return inTurn.toSorted((a, b) => restOf(a) - restOf(b));
  }

  failed(index: number, nowMs: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    // Requests that fail together are one failure.
    if (nowMs < node.restsUntilMs) return;
    node.restsUntilMs = nowMs + Math.min(REST_MS_MAX, REST_MS * 2 ** Math.min(node.failures, 10));
    node.failures += 1;
  }

  succeeded(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.failures = 0;
    node.restsUntilMs = Number.NEGATIVE_INFINITY;
  }
}
