import type { Alarms } from './alarms.ts';
import { type Exchange, Journal } from './exchange.ts';
import type { Fault, FaultPoint, Faults } from './faults.ts';
import type { Ask, Webhook, WebhookAnswer } from './webhooks.ts';

const CALLBACK_FAULTS = [
  'callback_lost',
  'callback_doubled',
  'callback_reordered',
  'callback_late',
  'callback_held',
] as const satisfies Fault['kind'][];

interface Report {
  readonly webhook: Webhook;
  readonly point: FaultPoint;
  /** Nothing will follow about this message or call. */
  readonly isLast: boolean;
  readonly onAnswer?: (answer: WebhookAnswer) => Promise<void>;
}

interface Parts {
  readonly exchange: Exchange;
  readonly ask: Ask;
  readonly faults: Faults;
  readonly alarms: Alarms;
  readonly keep: number;
}

/**
 * Call-backs whose sender does not wait: status reports and incoming SMS. Those of one message or call go out one after
 * the other, in order, unless a fault says otherwise.
 */
export class Reports {
  readonly #parts: Parts;
  readonly #tails = new Map<string, Promise<void>>();
  readonly #swapped: Journal<Report>;
  readonly #held: Journal<Report>;
  #heldCount = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#swapped = new Journal(parts.keep);
    this.#held = new Journal(parts.keep);
  }

  /** Resolves when the report was sent, or set aside by a fault. */
  send(report: Report): Promise<void> {
    return this.#inOrder(report.webhook.sid, this.#plan(report));
  }

  /** Sends what `callback_held` held back, oldest first; returns how many. */
  async release(): Promise<number> {
    const held = this.#held.all();
    this.#held.clear();
    await Promise.all(held.map((report) => this.#inOrder(report.webhook.sid, [report])));
    return held.length;
  }

  /** Forgets what was held back. */
  clear(): void {
    this.#held.clear();
    this.#swapped.clear();
  }

  #plan(report: Report): readonly Report[] {
    const { sid } = report.webhook;
    const earlier = this.#swapped.get(sid);
    if (earlier !== undefined) {
      this.#swapped.delete(sid);
      return [report, earlier];
    }
    const { exchange, faults, alarms } = this.#parts;
    const fault = faults.take(CALLBACK_FAULTS, report.point);
    const plan: Report[] = [];
    switch (fault?.kind) {
      case undefined:
        plan.push(report);
        break;
      case 'callback_lost':
        exchange.addCallback({ ...report.webhook, outcome: 'lost' });
        break;
      case 'callback_doubled':
        plan.push(report, report);
        break;
      case 'callback_reordered':
        if (report.isLast) plan.push(report);
        else this.#swapped.add(sid, report);
        break;
      case 'callback_late':
        alarms.set(exchange.now() + fault.byMs, () => this.#inOrder(sid, [report]));
        break;
      case 'callback_held':
        this.#heldCount += 1;
        this.#held.add(String(this.#heldCount), report);
        break;
    }
    return plan;
  }

  #inOrder(sid: string, reports: readonly Report[]): Promise<void> {
    if (reports.length === 0) return Promise.resolve();
    const tail = (this.#tails.get(sid) ?? Promise.resolve()).then(() => this.#sendAll(reports));
    this.#tails.set(sid, tail);
    return this.#parts.exchange.track(
      tail.finally(() => {
        if (this.#tails.get(sid) === tail) this.#tails.delete(sid);
      }),
    );
  }

  async #sendAll(reports: readonly Report[]): Promise<void> {
    for (const { webhook, onAnswer } of reports) {
      const answer = await this.#parts.ask(webhook);
      await onAnswer?.(answer);
    }
  }
}
