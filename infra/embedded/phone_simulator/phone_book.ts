import { hasEnded, type PhoneCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { PhoneMessage } from './message.ts';

/** A person's phone, as far as the kept records show it. */
export interface PhoneSummary {
  readonly number: string;
  readonly messages: number;
  readonly calls: number;
  /** Ringing or being spoken on. */
  readonly hasLiveCall: boolean;
  readonly lastText: string;
  readonly lastAtMs: number;
}

type ThreadEntry =
  | { readonly kind: 'message'; readonly record: PhoneMessage }
  | { readonly kind: 'call'; readonly record: PhoneCall };

/** Every person's number seen, the one with the newest message or call first. */
export function listPhones(exchange: Exchange): PhoneSummary[] {
  const phones = new Map<string, PhoneSummary>();
  for (const entry of listEntries(exchange)) {
    const number = personOf(entry.record);
    const existing = phones.get(number);
    phones.set(number, {
      number,
      messages: (existing?.messages ?? 0) + (entry.kind === 'message' ? 1 : 0),
      calls: (existing?.calls ?? 0) + (entry.kind === 'call' ? 1 : 0),
      hasLiveCall: (existing?.hasLiveCall ?? false) || (entry.kind === 'call' && isLive(entry.record)),
      lastText: entry.kind === 'message' ? entry.record.body : `Call, ${entry.record.status}`,
      lastAtMs: entry.record.createdAtMs,
    });
  }
  return [...phones.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
}

/** The newest entries of one phone, oldest first. */
export function listThread(exchange: Exchange, number: string, limit: number): ThreadEntry[] {
  return listEntries(exchange)
    .filter((entry) => personOf(entry.record) === number)
    .slice(-limit);
}

/** The call that rings or is being spoken on, if any. */
export function findLiveCall(exchange: Exchange, number: string): PhoneCall | null {
  return exchange.calls.newestFirst().find((call) => personOf(call) === number && isLive(call)) ?? null;
}

function personOf(record: PhoneMessage | PhoneCall): string {
  return record.direction === 'inbound' ? record.from : record.to;
}

function isLive(call: PhoneCall): boolean {
  return call.status !== 'queued' && !hasEnded(call);
}

function listEntries({ messages, calls }: Exchange): ThreadEntry[] {
  const entries: ThreadEntry[] = [
    ...messages.all().map((record) => ({ kind: 'message', record }) as const),
    ...calls.all().map((record) => ({ kind: 'call', record }) as const),
  ];
  return entries.sort((a, b) => a.record.seq - b.record.seq);
}
