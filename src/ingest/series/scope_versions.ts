/** Limit on the scopes of one service that are told apart by version or schema. */
const SCOPES_MAX = 1_000;

/**
 * Scopes of which one resource had several versions, or schemas, in one request: their streams are told apart by them
 * from then on. Where there is one at a time, a new version of a library goes on with the series of the one before.
 */
export class ScopeVersions {
  readonly #mixed = new Set<string>();

  get size(): number {
    return this.#mixed.size;
  }

  has(scope: string): boolean {
    return this.#mixed.has(scope);
  }

  addAll(scopes: Iterable<string>): void {
    for (const scope of scopes) if (this.#mixed.size < SCOPES_MAX) this.#mixed.add(scope);
  }
}

/** The versions of scopes in one request, beside what is known from the requests before. */
export class RequestScopes {
  /** Scopes whose versions turned out to differ in this request. */
  readonly mixed = new Set<string>();
  readonly #earlier: ScopeVersions;
  readonly #seen = new Map<string, string>();

  constructor(earlier: ScopeVersions) {
    this.#earlier = earlier;
  }

  /** Notes a version of a scope, which may be empty, and returns whether it is needed to tell streams apart. */
  note(scope: string, version: string): boolean {
    if (this.mixed.has(scope) || this.#earlier.has(scope)) return true;
    const before = this.#seen.get(scope);
    if (before === undefined) this.#seen.set(scope, version);
    else if (before !== version && this.mixed.size < SCOPES_MAX) this.mixed.add(scope);
    return this.mixed.has(scope);
  }

  remember(): void {
    this.#earlier.addAll(this.mixed);
  }
}
