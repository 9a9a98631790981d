import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { type ConnectionState, followChanges } from '#console/api/live.ts';

/** The stream of the server, which a test lets speak. */
class FakeEventSource extends EventTarget {
  static readonly CLOSED = 2;
  static all: FakeEventSource[] = [];
  readyState = 1;
  readonly query: string;
  constructor(address: string) {
    super();
    this.query = new URL(address).search;
    FakeEventSource.all.push(this);
  }
  close(): void {
    this.readyState = FakeEventSource.CLOSED;
  }
  change(topic: string, ids: string[] | null): void {
    this.dispatchEvent(new MessageEvent('change', { data: JSON.stringify({ topic, ids }) }));
  }
}

/** Both ends of the channel between tabs. */
class FakeChannel extends EventTarget {
  static sent: unknown[] = [];
  static last: FakeChannel;
  constructor() {
    super();
    FakeChannel.last = this;
  }
  postMessage(message: unknown): void {
    FakeChannel.sent.push(message);
  }
  close(): void {}
}

let client: QueryClient;
let invalidated: unknown[];
let states: ConnectionState[];
let stop: () => void;
let sessionReads: number;

beforeEach(() => {
  vi.useFakeTimers();
  FakeEventSource.all = [];
  FakeChannel.sent = [];
  vi.stubGlobal('EventSource', FakeEventSource);
  vi.stubGlobal('BroadcastChannel', FakeChannel);
  vi.stubGlobal('navigator', { onLine: true });
  client = new QueryClient();
  invalidated = [];
  vi.spyOn(client, 'invalidateQueries').mockImplementation(async (filters) => {
    invalidated.push(filters?.queryKey);
  });
  sessionReads = 0;
  vi.spyOn(client, 'fetchQuery').mockImplementation(async ({ queryKey }) => {
    if (queryKey.join() === 'session') sessionReads += 1;
    return null;
  });
  states = [];
  stop = followChanges('org_1', client, (state) => states.push(state));
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const source = () => FakeEventSource.all.at(-1)!;

describe('live changes', () => {
  test('within 100 ms are handled together, each topic once', () => {
    for (let index = 0; index < 100; index += 1) source().change('settings', [`apikey_${index}`]);
    source().change('me', null);
    expect(invalidated).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(invalidated).toEqual([
      ['org', 'org_1', 'settings'],
      ['org', 'org_1', 'me'],
    ]);
  });

  test('a change of more than 50 rows loads the whole topic, as does one without ids', () => {
    const ids = Array.from({ length: 51 }, (_, index) => `incident_${index}`);
    source().change('incidents', ids);
    source().change('services', ['service_1']);
    source().change('services', null);
    vi.advanceTimersByTime(100);
    expect(invalidated).toEqual([
      ['org', 'org_1', 'incidents'],
      ['org', 'org_1', 'services'],
    ]);
  });

  test('of people and invitations load the lists that forms choose people from', () => {
    source().change('teams', null);
    vi.advanceTimersByTime(100);
    expect(invalidated).toEqual([
      ['org', 'org_1', 'settings', 'list_members'],
      ['org', 'org_1', 'settings', 'list_invitations'],
      ['org', 'org_1', 'teams'],
    ]);
  });

  test('are forwarded to other tabs, and taken from them', () => {
    source().change('me', null);
    expect(FakeChannel.sent).toEqual([{ topic: 'me', ids: null }]);
    FakeChannel.last.dispatchEvent(new MessageEvent('message', { data: { topic: 'settings', ids: null } }));
    vi.advanceTimersByTime(100);
    expect(invalidated).toEqual([
      ['org', 'org_1', 'me'],
      ['org', 'org_1', 'settings'],
    ]);
  });

  test('changes that were missed during an interruption are made up for by loading everything', () => {
    source().dispatchEvent(new Event('open'));
    expect(invalidated).toEqual([]);
    source().close();
    source().dispatchEvent(new Event('error'));
    vi.advanceTimersByTime(3_000);
    expect(FakeEventSource.all).toHaveLength(2);
    source().dispatchEvent(new Event('open'));
    expect(invalidated).toEqual([['org', 'org_1']]);
    expect(states).toEqual(['open', 'lost', 'open']);
  });

  test('a stream that the server refuses makes the page ask whether its session has ended, an interrupted one does not', () => {
    source().dispatchEvent(new Event('error'));
    expect(sessionReads).toBe(0);
    source().close();
    source().dispatchEvent(new Event('error'));
    expect(sessionReads).toBe(1);
  });

  test('since the page began to read are asked for with the first connection only', async () => {
    const atOnce = source().query;
    source().close();
    source().dispatchEvent(new Event('error'));
    vi.advanceTimersByTime(3_000);
    const again = source().query;
    stop();
    const granted = Promise.withResolvers<void>();
    const locks = {
      async request(_name: string, _options: object, listen: () => Promise<void>) {
        await granted.promise;
        await listen();
      },
    };
    vi.stubGlobal('navigator', { onLine: true, locks });
    stop = followChanges('org_1', client, () => {});
    vi.advanceTimersByTime(7_000);
    granted.resolve();
    await granted.promise;
    expect([atOnce, again, source().query]).toEqual(['?shownForMs=0', '', '?shownForMs=7000']);
  });

  test('another tab that begins to listen makes this one read again, and so does the browser that shows it again', () => {
    const shown = (persisted: boolean) => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
    FakeChannel.last.dispatchEvent(new MessageEvent('message', { data: 'lost' }));
    shown(false);
    expect(invalidated).toEqual([]);
    FakeChannel.last.dispatchEvent(new MessageEvent('message', { data: 'open' }));
    expect(invalidated).toEqual([['org', 'org_1']]);
    shown(true);
    expect(invalidated).toHaveLength(2);
    expect(states).toEqual(['lost', 'open']);
  });

  test('end when the page is left', () => {
    source().change('me', null);
    stop();
    vi.advanceTimersByTime(10_000);
    expect([invalidated, source().readyState, FakeEventSource.all.length]).toEqual([[], 2, 1]);
  });
});
