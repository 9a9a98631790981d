import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { compacted, freePlace, moveInOrder, nudge } from '#modules/dashboards/decide/grid.ts';
import {
  changesBetween,
  type DashboardDraft,
  hasChanges,
  mergeDrafts,
  titleOf,
} from '#modules/dashboards/decide/layout_changes.ts';
import { newWidget } from '#modules/dashboards/decide/grid.ts';
import { mostUsefulMetrics, templateOf } from '#modules/dashboards/decide/template.ts';
import {
  variablesOf,
  withVariables,
  GRID_COLUMNS,
  type GridPlace,
  placeWidget,
  readWidget,
  readWidgets,
  type StoredWidget,
  toLayout,
  type Widget,
  writeWidget,
} from '#modules/dashboards/decide/widget.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';

const anyPlace = fc
  .record({ x: fc.nat(11), y: fc.nat(30), w: fc.integer({ min: 1, max: 12 }), h: fc.integer({ min: 2, max: 10 }) })
  .map(({ x, ...rest }) => ({ ...rest, x: Math.min(x, GRID_COLUMNS - rest.w) }));

/** Widgets with ids of their own, and titles that say which they are. */
const anyWidgets = fc
  .array(fc.tuple(anyPlace, fc.string({ maxLength: 5 })), { maxLength: 12 })
  .map((all) =>
    all.map(([grid, text], index) =>
      readWidget({ type: 'text', title: `w${index}`, options: { text }, grid }, `w${index}`),
    ),
  );

function cellsOf({ grid: { x, y, w, h } }: Widget): string[] {
  return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`);
}

function expectSound(widgets: readonly Widget[]): void {
  const cells = widgets.flatMap(cellsOf);
  expect(new Set(cells).size).toBe(cells.length);
  for (const { grid } of widgets) expect(grid.x + grid.w).toBeLessThanOrEqual(GRID_COLUMNS);
}

describe('the grid', () => {
  test('has no widget over another, whatever the layout says, and settles at once', () => {
    fc.assert(
      fc.property(anyWidgets, (widgets) => {
        const once = compacted(widgets);
        expectSound(once);
        expect(once.map(({ id }) => id).toSorted()).toEqual(widgets.map(({ id }) => id).toSorted());
        expect(compacted(once)).toEqual(once);
      }),
    );
  });

  test('has room for a new widget, and stays sound when one is moved or resized by keys', () => {
    const key = fc.constantFrom<[number, number, 'place' | 'size']>(
      [1, 0, 'place'],
      [-1, 0, 'place'],
      [0, 1, 'place'],
      [0, -1, 'place'],
      [1, 0, 'size'],
      [0, -1, 'size'],
    );
    fc.assert(
      fc.property(anyWidgets, fc.array(key, { maxLength: 10 }), (widgets, keys) => {
        let current = compacted(widgets);
        const place = freePlace(current, { w: 4, h: 3 });
        expectSound([...current, placeWidget(readWidget({}, 'new'), place)]);
        for (const [columns, rows, what] of keys) current = nudge(current, 'w0', { columns, rows }, what);
        expectSound(current);
        expect(current).toHaveLength(widgets.length);
      }),
    );
  });

  test('moves a widget one place up or down in the order in which people read, and keeps the others sound', () => {
    fc.assert(
      fc.property(anyWidgets, fc.nat(), fc.constantFrom(-1 as const, 1 as const), (widgets, picked, by) => {
        const before = compacted(widgets);
        const from = picked % Math.max(1, before.length);
        const moved = before[from];
        if (moved === undefined) return;
        const after = moveInOrder(before, moved.id, by);
        expectSound(after);
        expect(after.map(({ id }) => id).toSorted()).toEqual(before.map(({ id }) => id).toSorted());
        const to = after.findIndex(({ id }) => id === moved.id);
        const isAtEnd = from + by < 0 || from + by >= before.length;
        const places = (to - from) * by;
        expect(isAtEnd ? places === 0 : places > 0).toBe(true);
      }),
    );
  });

  test('moves a widget below its neighbour by one key, and above it again by another', () => {
    const at = (id: string, grid: GridPlace) => placeWidget(readWidget({ title: id }, id), grid);
    const both = [at('a', { x: 0, y: 0, w: 6, h: 4 }), at('b', { x: 0, y: 4, w: 6, h: 3 })];
    const ids = (widgets: readonly Widget[]) => widgets.map(({ id }) => id);
    const down = nudge(both, 'a', { columns: 0, rows: 1 }, 'place');
    expect(ids(down)).toEqual(['b', 'a']);
    expect(ids(nudge(down, 'a', { columns: 0, rows: -1 }, 'place'))).toEqual(['a', 'b']);
  });
});

describe('a widget', () => {
  test('keeps what the console does not know, whatever is changed of it', () => {
    const stored = fc
      .dictionary(fc.constantFrom('colours', 'links', 'id', 'query', 'options'), fc.jsonValue())
      .map((fields): StoredWidget => ({ ...fields }));
    fc.assert(
      fc.property(stored, anyPlace, (before, grid) => {
        const widget = readWidget(before, 'x');
        expect(placeWidget(widget, grid).stored).toMatchObject({ ...before, grid });
        const { kind: _, queries, text, serviceId, teamId } = widget;
        const written = writeWidget(before, 'x', { kind: 'text', title: 'New', queries, text, serviceId, teamId });
        for (const name of ['colours', 'links', 'id']) {
          expect(written[name]).toEqual(before[name]);
        }
        expect(readWidget(written, 'x')).toMatchObject({ title: 'New', queries, text, serviceId, teamId });
      }),
    );
  });

  test('of another program is read by what it says, and one that cannot be shown has no kind', () => {
    const query = { metricName: 'm', aggregation: 'sum' };
    const layout = [{ type: 'timeseries', query }, { type: 'STAT', query: [query, query] }, { type: 'flame' }, {}];
    expect(readWidgets(layout).map(({ kind, queries }) => [kind, queries.length])).toEqual([
      ['series', 1],
      ['number', 2],
      [null, 0],
      [null, 0],
    ]);
    const ids = readWidgets([{ options: { id: 'a' } }, { options: { id: 'a' } }, {}]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });
});

describe('two changes of one dashboard', () => {
  const draftOf = (widgets: readonly Widget[], name = 'Checkout'): DashboardDraft => ({ name, widgets });
  /** Edits of somebody: each widget is removed, retitled, moved or left alone, and some are added. */
  const anyEdit = (who: string) =>
    fc
      .tuple(fc.array(fc.constantFrom('keep', 'remove', 'retitle', 'move'), { maxLength: 12 }), fc.nat(2))
      .map(([acts, added]) => (widgets: readonly Widget[]): Widget[] => {
        const kept = widgets.flatMap((widget, index): Widget[] => {
          const act = acts[index] ?? 'keep';
          if (act === 'remove') return [];
          if (act === 'move') return [placeWidget(widget, { ...widget.grid, y: widget.grid.y + 7 })];
          if (act === 'keep') return [widget];
          return [readWidget({ ...widget.stored, title: `${widget.title} by ${who}` }, widget.id)];
        });
        const news = Array.from({ length: added }, (_, index) =>
          readWidget({ type: 'text', title: `${who} ${index}` }, `${who}${index}`),
        );
        return compacted([...kept, ...news]);
      });

  test('are joined: nothing that either added or changed is lost', () => {
    fc.assert(
      fc.property(anyWidgets, anyEdit('me'), anyEdit('them'), (widgets, edit, otherEdit) => {
        const base = draftOf(compacted(widgets));
        const [mine, theirs] = [draftOf(edit(base.widgets)), draftOf(otherEdit(base.widgets))];
        const merged = mergeDrafts(base, mine, theirs);
        expectSound(merged.widgets);
        const titles = merged.widgets.map(titleOf);
        for (const side of [mine, theirs]) {
          const { added, changed } = changesBetween(base, side);
          for (const title of [...added, ...changed])
            expect(titles.some((shown) => shown.startsWith(title))).toBe(true);
        }
        // What both left alone is there once; what one removed and the other left alone is gone.
        for (const { id } of base.widgets) {
          const [own, other] = [mine, theirs].map((side) => side.widgets.find((widget) => widget.id === id));
          const left = merged.widgets.filter((widget) => widget.id === id || widget.id === `${id}-theirs`).length;
          expect(left).toBeLessThanOrEqual(own === undefined && other === undefined ? 0 : 2);
        }
      }),
    );
  });

  test('give what one side changed when the other changed nothing', () => {
    fc.assert(
      fc.property(anyWidgets, anyEdit('me'), (widgets, edit) => {
        const base = draftOf(compacted(widgets));
        const mine = draftOf(edit(base.widgets), 'Renamed');
        for (const merged of [mergeDrafts(base, mine, base), mergeDrafts(base, base, mine)]) {
          const { added, removed, changed, name } = changesBetween(mine, merged);
          expect({ added, removed, changed, name }).toEqual({ added: [], removed: [], changed: [], name: null });
        }
        expect(hasChanges(changesBetween(base, base))).toBe(false);
      }),
    );
  });

  test('are told apart, each by the titles of its widgets', () => {
    const [a, b] = [readWidget({ title: 'A' }, 'a'), readWidget({ title: 'B' }, 'b')];
    const base = draftOf([a, b]);
    const after = draftOf([readWidget({ title: 'A2' }, 'a'), readWidget({ title: 'C' }, 'c')], 'Other');
    expect(changesBetween(base, after)).toEqual({
      name: 'Other',
      added: ['C'],
      removed: ['B'],
      changed: ['A2'],
      moved: [],
    });
  });
});

test('a first dashboard shows what tells most, without plumbing, and survives being stored', () => {
  const metric = (metricName: string) => ({
    metricName,
    aggregation: 'avg' as const,
    isHistogram: false,
    seriesCount: 1,
  });
  const sent = [
    'up',
    'go_info',
    'queue_depth',
    'http_requests_total',
    'http_errors_total',
    'x_bucket',
    'heap_bytes',
  ].map(metric);
  expect(mostUsefulMetrics(sent, 3).map(({ metricName }) => metricName)).toEqual([
    'http_errors_total',
    'http_requests_total',
    'queue_depth',
  ]);
  let ids = 0;
  const widgets = templateOf(sent, () => `id${(ids += 1)}`);
  expectSound(widgets);
  expect(widgets.filter(({ kind }) => kind === 'series')).toHaveLength(5);
  expect(readWidgets(JSON.parse(JSON.stringify(toLayout(widgets))))).toEqual(widgets);
  const facts = { kind: 'number', title: 'N', queries: [], text: '', serviceId: null, teamId: null } as const;
  expectSound([...widgets, newWidget('n', facts, widgets)]);
});

test('a chart keeps its form and its line, and those that say neither are lines without one', () => {
  const facts = { kind: 'series', title: 'CPU', queries: [], text: '', serviceId: null, teamId: null } as const;
  const stored = writeWidget({ options: { decimals: 2 } }, 'a', {
    ...facts,
    look: 'stacked',
    threshold: 0.8,
    unit: 'ratio',
  });
  expect(stored.options).toEqual({ decimals: 2, id: 'a', look: 'stacked', threshold: 0.8, unit: 'ratio' });
  expect(readWidget(stored, 'a')).toMatchObject({ look: 'stacked', threshold: 0.8, unit: 'ratio' });
  expect(writeWidget(stored, 'a', facts).options).toEqual({ decimals: 2, id: 'a' });
  expect(readWidget({ options: { look: 'pie', threshold: '1', unit: 'parsec' } }, 'a')).toMatchObject({
    look: 'lines',
    threshold: null,
    unit: null,
  });
  const rate = { serviceId: null, metricName: 'm', aggregation: 'sum', isRate: true, splitBy: null, top: 5 } as const;
  const counted = writeWidget({}, 'b', { ...facts, queries: [rate] });
  expect(counted.query).toEqual({ metricName: 'm', aggregation: 'sum', isRate: true });
  expect(readWidget(counted, 'b').queries).toEqual([rate]);
});

test('a variable of a selector is one value, or every value while none is chosen', () => {
  const query = { metricName: 'cpu{host="$host", zone="eu"} / cpu{host="$host",mode="$mode"} * 100' };
  const widgets = readWidgets([
    { type: 'line', query },
    { type: 'text' },
    { type: 'stat', query: { metricName: 'load{node="$host"}' } },
  ]);
  expect(variablesOf(widgets).map(({ name, label }) => [name, label])).toEqual([
    ['host', 'host'],
    ['mode', 'mode'],
  ]);
  expect(withVariables(query.metricName, {})).toBe('cpu{host=~".*", zone="eu"} / cpu{host=~".*",mode=~".*"} * 100');
  expect(withVariables(query.metricName, { host: 'a"b\\c', mode: '' })).toBe(
    'cpu{host="a\\"b\\\\c", zone="eu"} / cpu{host="a\\"b\\\\c",mode=""} * 100',
  );
  expect(parseSelector(withVariables('m{a="$x"}', { x: 'q"\\' })).matchers).toMatchObject([{ value: 'q"\\' }]);
  expect(withVariables('m{price="5$"}', { x: '1' })).toBe('m{price="5$"}');
  expect(withVariables('m{zone-id="$x"}', { x: '1' })).toBe('m{zone-id="1"}');
});
