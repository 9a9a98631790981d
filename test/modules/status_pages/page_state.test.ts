import { describe, expect, test } from 'vitest';

import { Temporal } from '#kernel/time.ts';
import {
  historyStart,
  type PageContent,
  pageStateOf,
  type PublishedIncident,
} from '#modules/status_pages/decide/page_state.ts';
import { HISTORY_DAYS, IMPACTS, isSlug, worstImpact } from '#modules/status_pages/decide/publication.ts';
import fc from '#test/kit/properties.ts';

const NOW = Temporal.Instant.from('2026-06-30T12:00:00Z');

const incident = (changed: Partial<PublishedIncident>): PublishedIncident => ({
  id: 'publication_1',
  title: 'Payments are slow',
  impact: 'degraded',
  serviceIds: ['payments'],
  beganAt: NOW.subtract({ hours: 1 }),
  endedAt: null,
  updates: [],
  ...changed,
});

const content = (publications: readonly PublishedIncident[]): PageContent => ({
  title: 'Acme',
  about: null,
  isPublic: true,
  components: [
    { serviceId: 'payments', groupName: 'Shop', name: 'Payments' },
    { serviceId: 'search', groupName: 'Shop', name: 'Search' },
    { serviceId: 'mail', groupName: '', name: 'Mail' },
  ],
  publications,
});

const componentsOf = (publications: readonly PublishedIncident[]) =>
  pageStateOf(content(publications), NOW).groups.flatMap(({ components }) => components);

describe('the state of a page', () => {
  test('keeps groups and services in the order of the page', () => {
    const { groups, impact } = pageStateOf(content([]), NOW);
    expect(groups.map(({ name, components }) => [name, components.map((component) => component.name)])).toEqual([
      ['Shop', ['Payments', 'Search']],
      ['', ['Mail']],
    ]);
    expect(impact).toBeNull();
  });

  test('is the worst of what is open, and of each service the worst that affects it', () => {
    const open = [incident({}), incident({ id: 'publication_2', impact: 'outage', serviceIds: ['payments', 'mail'] })];
    expect(pageStateOf(content(open), NOW).impact).toBe('outage');
    expect(componentsOf(open).map(({ impact }) => impact)).toEqual(['outage', null, 'outage']);
  });

  test('has nothing of incidents that ended but their days', () => {
    const ended = [incident({ beganAt: NOW.subtract({ hours: 48 }), endedAt: NOW.subtract({ hours: 24 }) })];
    const state = pageStateOf(content(ended), NOW);
    expect(state.impact).toBeNull();
    expect(state.open).toEqual([]);
    expect(state.past.map(({ day }) => day)).toEqual(['2026-06-28']);
    expect(componentsOf(ended)[0]?.days).toEqual([
      { day: 87, impact: 'degraded' },
      { day: 88, impact: 'degraded' },
    ]);
  });

  test('marks no day before its history, however long ago an incident began', () => {
    const long = [incident({ beganAt: NOW.subtract({ hours: 24 * 400 }) })];
    expect(componentsOf(long)[0]?.days.map(({ day }) => day)).toEqual(Array.from({ length: 90 }, (_, day) => day));
  });

  test('leaves out what ended before its history', () => {
    const old = incident({ beganAt: NOW.subtract({ hours: 24 * 100 }), endedAt: NOW.subtract({ hours: 24 * 91 }) });
    expect(pageStateOf(content([old]), NOW).past).toEqual([]);
  });
});

test.each([
  ['acme', true],
  ['acme-shop-2', true],
  ['ab', false],
  ['-acme', false],
  ['acme-', false],
  ['Acme', false],
  ['a/../b', false],
  ['a'.repeat(51), false],
])('%s as an address of a page: %s', (slug, isOne) => {
  expect(isSlug(slug)).toBe(isOne);
});

test('the days of a service are those on which something published affected it, each with the worst', () => {
  const hours = fc.integer({ min: -2_400, max: 0 });
  const published = fc.record({
    impact: fc.constantFrom(...IMPACTS),
    serviceIds: fc.subarray(['payments', 'search', 'mail', 'gone']),
    from: hours,
    to: fc.option(hours),
  });
  fc.assert(
    fc.property(fc.array(published, { maxLength: 8 }), (drawn) => {
      const publications = drawn.map(({ impact, serviceIds, from, to }) =>
        incident({
          impact,
          serviceIds,
          beganAt: NOW.add({ hours: Math.min(from, to ?? 0) }),
          endedAt: to === null ? null : NOW.add({ hours: Math.max(from, to) }),
        }),
      );
      const start = historyStart(NOW).epochMilliseconds;
      const dayOf = (at: Temporal.Instant) => Math.floor((at.epochMilliseconds - start) / 86_400_000);
      const expected = ['payments', 'search', 'mail'].map((serviceId) => {
        const affecting = publications.filter(({ serviceIds }) => serviceIds.includes(serviceId));
        return Array.from({ length: HISTORY_DAYS }, (_, day) => {
          const that = affecting.filter(
            ({ beganAt, endedAt }) => dayOf(beganAt) <= day && day <= dayOf(endedAt ?? NOW),
          );
          return { day, impact: worstImpact(that.map(({ impact }) => impact)) };
        }).filter(({ impact }) => impact !== null);
      });
      expect(componentsOf(publications).map(({ days }) => days)).toEqual(expected);
    }),
  );
});
