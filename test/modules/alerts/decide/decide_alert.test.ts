import { describe, expect, test } from 'vitest';

import { ALERT_ACTIONS, type AlertAction, stateOf } from '#modules/alerts/decide/alert_event.ts';
import {
  type AlertEffect,
  decideAlert,
  type IncidentOfAlert,
  type KnownAlert,
  type TimedEvent,
} from '#modules/alerts/decide/alert_change.ts';
import fc from '#test/kit/properties.ts';

const NOW = 1_800_000_000_000;
const NEW_ALERT: KnownAlert = { history: [], settledAt: null, episodeAt: null };

/** An alert with its incident, as the rows are kept. */
class Life {
  alert: KnownAlert = NEW_ALERT;
  incident: IncidentOfAlert | null = null;
  opened = 0;
  now = NOW;

  receive(event: TimedEvent): AlertEffect {
    const isOpen = stateOf(this.alert.history).since !== null;
    const { alert, effect } = decideAlert(this.alert, isOpen ? this.incident : null, event, this.now);
    this.alert = alert;
    switch (effect) {
      case 'open':
      case 'replace':
        this.opened += 1;
        this.incident = { status: 'triggered', resolvedAt: null };
        break;
      case 'open_acknowledged':
        this.incident = { status: 'acknowledged', resolvedAt: null };
        break;
      case 'acknowledge':
        this.incident = { status: 'acknowledged', resolvedAt: null };
        break;
      case 'unacknowledge':
        this.incident = { status: 'triggered', resolvedAt: null };
        break;
      case 'resolve':
        this.incident = { status: 'resolved', resolvedAt: this.now };
        break;
      case 'count':
      case 'nothing':
        break;
    }
    return effect;
  }

  get open(): string | null {
    return this.incident === null || this.incident.status === 'resolved' ? null : this.incident.status;
  }
}

const at = (action: AlertAction, seconds: number | null, timing: TimedEvent['timing'] = 'event'): TimedEvent => ({
  action,
  at: seconds === null ? null : NOW - 600_000 + seconds * 1_000,
  timing,
});

describe('the table', () => {
  test.each<[string, AlertAction[], AlertEffect]>([
    ['a trigger opens', ['trigger'], 'open'],
    ['a trigger again counts', ['trigger', 'trigger'], 'count'],
    ['a trigger of an acknowledged one counts', ['trigger', 'acknowledge', 'trigger'], 'count'],
    ['an acknowledgement of nothing does nothing', ['acknowledge'], 'nothing'],
    ['an acknowledgement acknowledges', ['trigger', 'acknowledge'], 'acknowledge'],
    ['a second one does nothing', ['trigger', 'acknowledge', 'acknowledge'], 'nothing'],
    ['an acknowledgement is taken back', ['trigger', 'acknowledge', 'unacknowledge'], 'unacknowledge'],
    ['a resolve of nothing does nothing', ['resolve'], 'nothing'],
    ['a resolve resolves', ['trigger', 'resolve'], 'resolve'],
    ['a resolve of an acknowledged one resolves', ['trigger', 'acknowledge', 'resolve'], 'resolve'],
    ['a trigger after the resolve opens', ['trigger', 'resolve', 'trigger'], 'open'],
  ])('%s', (_name, actions, last) => {
    const life = new Life();
    const effects = actions.map((action) => life.receive(at(action, null)));
    expect(effects.at(-1)).toBe(last);
    const timed = new Life();
    expect(actions.map((action, index) => timed.receive(at(action, index))).at(-1)).toBe(last);
  });
});

test('a trigger that arrives after its own resolve opens nothing', () => {
  const life = new Life();
  life.receive(at('resolve', 10));
  expect(life.receive(at('trigger', 0))).toBe('nothing');
  expect(life.open).toBeNull();
});

test('a trigger after a resolve that comes late is of another time: whoever acknowledged the first has not answered it', () => {
  const life = new Life();
  life.receive(at('trigger', 0));
  life.incident = { status: 'acknowledged', resolvedAt: null };
  expect(life.receive(at('trigger', 20))).toBe('count');
  expect(life.receive(at('resolve', 10))).toBe('replace');
  expect([life.open, life.opened]).toEqual(['triggered', 2]);
});

test('an acknowledgement that overtakes its trigger leaves nobody to page', () => {
  const life = new Life();
  life.receive(at('acknowledge', 10));
  expect(life.receive(at('trigger', 0))).toBe('open_acknowledged');
});

test('a tool whose times never change still opens incidents, once its events cannot be late any more', () => {
  const life = new Life();
  for (const action of ['trigger', 'resolve'] as const) life.receive(at(action, 0));
  expect(life.receive(at('trigger', 0))).toBe('nothing');
  life.now += 15 * 60_000;
  expect(life.receive(at('trigger', 0))).toBe('open');
});

test('an alert that is resolved by mistake and still fires opens again within a minute', () => {
  const life = new Life();
  life.receive(at('trigger', 0, 'start'));
  life.receive(at('resolve', 300));
  expect(life.receive(at('trigger', 0, 'start'))).toBe('nothing');
  life.now += 60_000;
  expect(life.receive(at('trigger', 0, 'start'))).toBe('open');
});

test('what a person has resolved opens again with the next trigger, but not with a repetition of the last', () => {
  const life = new Life();
  life.receive(at('trigger', 0));
  life.incident = { status: 'resolved', resolvedAt: life.now };
  expect(life.receive(at('trigger', 0))).toBe('nothing');
  expect(life.receive(at('trigger', 1))).toBe('open');
  expect(life.opened).toBe(2);
});

test('a clock that is far ahead keeps later alerts from nothing', () => {
  const life = new Life();
  life.receive(at('trigger', 900_000));
  life.receive(at('resolve', null));
  life.now += 1_000;
  expect(life.receive(at('trigger', null))).toBe('open');
});

const actions = fc.array(fc.constantFrom(...ALERT_ACTIONS), { minLength: 1, maxLength: 9 });

/** Events as a tool says them, one after the other. */
function said(list: readonly AlertAction[]): TimedEvent[] {
  return list.map((action, index) => at(action, index));
}

test('any order, repeated, ends in the state that the tool has', () => {
  const deliveries = actions.chain((list) => {
    const events = said(list);
    const twice = [...events, ...events];
    return fc.tuple(fc.constant(events), fc.shuffledSubarray(twice, { minLength: twice.length }));
  });
  fc.assert(
    fc.property(deliveries, ([events, arrived]) => {
      const tool = stateOf(events.map(({ action, at }) => ({ action, at: at ?? 0 })));
      const life = new Life();
      for (const event of arrived) life.receive(event);
      const isOpen = tool.status === 'triggered' || tool.status === 'acknowledged';
      expect(life.open).toBe(isOpen ? tool.status : null);
      const episodes = events.filter(
        ({ action }, index) => action === 'trigger' && stateOf(historyOf(events.slice(0, index))).since === null,
      );
      expect(life.opened).toBeLessThanOrEqual(episodes.length);
    }),
    { numRuns: 2_000 },
  );
});

test('in order and without times, the same happens', () => {
  fc.assert(
    fc.property(actions, (list) => {
      const [timed, untimed] = [new Life(), new Life()];
      for (const event of said(list)) timed.receive(event);
      for (const action of list) untimed.receive(at(action, null));
      const heardOf = list.slice(list.indexOf('trigger'));
      const tool = stateOf(historyOf(said(list.includes('trigger') ? heardOf : [])));
      expect(timed.open).toBe(untimed.open);
      expect(untimed.open).toBe(tool.since === null ? null : tool.status);
    }),
    { numRuns: 2_000 },
  );
});

function historyOf(events: readonly TimedEvent[]) {
  return events.map(({ action, at }) => ({ action, at: at ?? 0 }));
}
