import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

const scope = {
  /** The person's number; without it, everybody. */
  number: Type.Optional(Type.String()),
  /** Kind of exchange, or every kind; `reply` is the call-back for an SMS that a person sends. */
  on: Type.Optional(Type.Enum(['message', 'call', 'reply', 'lookup'])),
  /** Number of times that it applies; without it, until it is cleared. */
  times: Type.Optional(Type.Integer({ minimum: 1 })),
};

const when = Type.Enum(['before', 'after']);
const byMs = Type.Integer({ minimum: 0 });
const errorCode = Type.Integer();

function kind<K extends string, P extends Type.TProperties>(name: K, properties: P) {
  return Type.Object({ ...scope, kind: Type.Literal(name), ...properties }, { additionalProperties: false });
}

/**
 * Fault of the provider or the network.
 * - `http_error`: the REST request is refused; without `code` the body is a web page, as a broken proxy sends.
 * - `hang`, `drop`: the request is never answered, or its connection is cut, before or after it took effect.
 * - `slow`: the request is handled `byMs` late.
 * - `undelivered`: a message is sent and then not delivered. `failed`: a message or call never leaves.
 * - `no_report`: a message is sent and its delivery never reported.
 * - `call_ends`: a call ends with this status instead of being answered.
 * - `callback_*`: lost, sent twice, swapped with the next one of its message or call, sent `byMs` late, or held back
 *   until released.
 */
export const Fault = Type.Union([
  kind('http_error', {
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    code: Type.Optional(errorCode),
    message: Type.Optional(Type.String()),
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  kind('hang', { when }),
  kind('drop', { when }),
  kind('slow', { byMs }),
  kind('undelivered', { errorCode }),
  kind('failed', { errorCode: Type.Optional(errorCode) }),
  kind('no_report', {}),
  kind('call_ends', { as: Type.Enum(['busy', 'no-answer', 'failed']) }),
  kind('callback_lost', {}),
  kind('callback_doubled', {}),
  kind('callback_reordered', {}),
  kind('callback_late', { byMs }),
  kind('callback_held', {}),
]);
export type Fault = Static<typeof Fault>;
export type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;

export interface FaultPoint {
  readonly on: 'message' | 'call' | 'reply' | 'lookup';
  readonly number: string;
}

interface Active {
  readonly fault: Fault;
  left: number;
}

const ACTIVE_MAX = 1_000;
const faultCheck = Compile(Fault);

/** The active faults, oldest first; the first that matches applies. */
export class Faults {
  readonly #active = new Set<Active>();

  /** Returns a function that removes the fault. Throws TypeError when it is not a fault. */
  add(fault: Fault): () => void {
    if (!faultCheck.Check(fault)) throw new TypeError(`not a fault: ${JSON.stringify(fault)}`);
    if (this.#active.size >= ACTIVE_MAX) throw new RangeError(`more than ${ACTIVE_MAX} faults`);
    const active = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
    this.#active.add(active);
    return () => {
      this.#active.delete(active);
    };
  }

  list(): Fault[] {
    return [...this.#active].map(({ fault, left }) => (Number.isFinite(left) ? { ...fault, times: left } : fault));
  }

  clear(): void {
    this.#active.clear();
  }

  /** The fault of these kinds that applies here, counted once; null when there is none. */
  take<K extends Fault['kind']>(kinds: readonly K[], point: FaultPoint, when?: 'before' | 'after'): FaultOf<K> | null {
    for (const active of this.#active) {
      const { fault } = active;
      if (!isOfKind(fault, kinds) || !appliesTo(fault, point)) continue;
      if (when !== undefined && 'when' in fault && fault.when !== when) continue;
      active.left -= 1;
      if (active.left <= 0) this.#active.delete(active);
      return fault;
    }
    return null;
  }
}

function isOfKind<K extends Fault['kind']>(fault: Fault, kinds: readonly K[]): fault is FaultOf<K> {
  return kinds.some((kind) => kind === fault.kind);
}

function appliesTo(fault: Fault, point: FaultPoint): boolean {
  const sameNumber = fault.number === undefined || fault.number === point.number;
  return sameNumber && (fault.on === undefined || fault.on === point.on);
}
