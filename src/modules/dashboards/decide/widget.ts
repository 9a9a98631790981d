import { type Unit, UNITS } from '#modules/metrics/decide/quantity.ts';
import { VARIABLES_MAX } from '#modules/metrics/decide/limits.ts';
import { type Aggregation, AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';

/** A widget as it is stored. The console changes only the fields that it knows. */
export interface StoredWidget {
  readonly type?: string | undefined;
  readonly title?: string | undefined;
  readonly query?: unknown;
  readonly options?: unknown;
  readonly grid?: { readonly [name: string]: unknown } | undefined;
  readonly [name: string]: unknown;
}

export const WIDGET_KINDS = [
  'series',
  'number',
  'table',
  'heatmap',
  'text',
  'incidents',
  'exceptions',
  'monitors',
  'oncall',
] as const;
export type WidgetKind = (typeof WIDGET_KINDS)[number];

const METRIC_KINDS: readonly WidgetKind[] = ['series', 'number', 'table', 'heatmap'];

export function isOfMetrics(kind: WidgetKind | null): boolean {
  return METRIC_KINDS.some((candidate) => candidate === kind);
}

/** Forms of a chart over time. */
export const CHART_LOOKS = ['lines', 'bars', 'stacked'] as const;
export type ChartLook = (typeof CHART_LOOKS)[number];

/** Aliases that other tools use for the kinds of widgets. */
const KIND_NAMES: Readonly<Record<string, WidgetKind>> = {
  timeseries: 'series',
  line: 'series',
  area: 'series',
  chart: 'series',
  graph: 'series',
  stat: 'number',
  value: 'number',
  gauge: 'number',
  singlestat: 'number',
  list: 'table',
  markdown: 'text',
  note: 'text',
  alerts: 'incidents',
  on_call: 'oncall',
  'on-call': 'oncall',
};

export interface WidgetQuery {
  /** Service of the metric; null for the dashboard's own. */
  readonly serviceId: string | null;
  readonly metricName: string;
  /** Null for the usual one of the metric: a counter as its rate, other values by their mean. */
  readonly aggregation: Aggregation | null;
  /** Whether a sum is shown as its rate per second. */
  readonly isRate: boolean;
  readonly splitBy: string | null;
  readonly top: number;
}

export interface GridPlace {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Widget {
  /** Id that stays with the widget once it was saved here; before that, its position in the layout. */
  readonly id: string;
  /** Kind of the widget; null if the console cannot show it. */
  readonly kind: WidgetKind | null;
  readonly title: string;
  readonly queries: readonly WidgetQuery[];
  readonly text: string;
  /** Service whose incidents, or team whose shifts, are shown; null for all of the dashboard. */
  readonly serviceId: string | null;
  readonly teamId: string | null;
  readonly look: ChartLook;
  /** Value at which a chart draws a line, and beyond which a number stands out; null for none. */
  readonly threshold: number | null;
  /** Unit of the numbers; null for the one that the name of the metric tells. */
  readonly unit: Unit | null;
  /** Dashboard that the title leads to, with the values of variables; null for none. */
  readonly leadsTo: string | null;
  readonly grid: GridPlace;
  readonly stored: StoredWidget;
}

export const GRID_COLUMNS = 12;
export const QUERIES_MAX = 10;
const TOP = 5;
const TOP_MAX = 20;
const HEIGHT_MAX = 40;

/** Size of a new widget, by kind. */
export const WIDGET_SIZES: Readonly<Record<WidgetKind, { readonly w: number; readonly h: number }>> = {
  series: { w: 6, h: 6 },
  number: { w: 3, h: 3 },
  table: { w: 6, h: 6 },
  heatmap: { w: 6, h: 6 },
  text: { w: 4, h: 3 },
  incidents: { w: 6, h: 6 },
  exceptions: { w: 6, h: 6 },
  monitors: { w: 6, h: 6 },
  oncall: { w: 4, h: 4 },
};

/** Reads every widget of a layout, whether the console or a caller of the API made it. */
export function readWidgets(layout: readonly StoredWidget[]): Widget[] {
  const ids = new Set<string>();
  return layout.map((stored, index) => {
    const storedId = recordOf(stored.options)['id'];
    const id = typeof storedId === 'string' && storedId !== '' && !ids.has(storedId) ? storedId : `place-${index}`;
    ids.add(id);
    return readWidget(stored, id);
  });
}

export function readWidget(stored: StoredWidget, id: string): Widget {
  const type = (textOf(stored.type) ?? '').toLowerCase();
  const kind = WIDGET_KINDS.find((candidate) => candidate === type) ?? KIND_NAMES[type] ?? null;
  const options = recordOf(stored.options);
  return {
    id,
    kind,
    title: textOf(stored.title) ?? '',
    queries: readQueries(stored.query),
    text: textOf(options['text']) ?? textOf(options['content']) ?? textOf(recordOf(stored.query)['text']) ?? '',
    serviceId: textOf(options['serviceId']) ?? textOf(recordOf(stored.query)['serviceId']),
    teamId: textOf(options['teamId']) ?? textOf(recordOf(stored.query)['teamId']),
    look: CHART_LOOKS.find((look) => look === options['look']) ?? (type === 'area' ? 'stacked' : 'lines'),
    threshold: finiteOf(options['threshold']),
    unit: UNITS.find((unit) => unit === options['unit']) ?? null,
    leadsTo: textOf(options['leadsTo']),
    grid: readGrid(stored.grid ?? {}, kind ?? 'series'),
    stored,
  };
}

/** Reads one query, a list of queries, or an object that holds the list. */
function readQueries(query: unknown): WidgetQuery[] {
  const inner = recordOf(query)['queries'];
  const all = Array.isArray(query) ? query : Array.isArray(inner) ? inner : [query];
  return all.slice(0, QUERIES_MAX).flatMap((query: unknown) => {
    const { metricName, metric, aggregation, isRate, serviceId, splitBy, top } = recordOf(query);
    const name = textOf(metricName) ?? textOf(metric);
    if (name === null) return [];
    return [
      {
        serviceId: textOf(serviceId),
        metricName: name,
        aggregation: AGGREGATIONS.find((candidate) => candidate === aggregation) ?? null,
        isRate: isRate === true,
        splitBy: textOf(splitBy),
        top: typeof top === 'number' && Number.isInteger(top) && top >= 1 && top <= TOP_MAX ? top : TOP,
      },
    ];
  });
}

function readGrid(grid: { readonly [name: string]: unknown }, kind: WidgetKind): GridPlace {
  const { w: usualWidth, h: usualHeight } = WIDGET_SIZES[kind];
  const w = wholeNumber(grid['w'], usualWidth, 1, GRID_COLUMNS);
  return {
    x: wholeNumber(grid['x'], 0, 0, GRID_COLUMNS - w),
    y: wholeNumber(grid['y'], Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER),
    w,
    h: wholeNumber(grid['h'], usualHeight, 2, HEIGHT_MAX),
  };
}

function wholeNumber(value: unknown, fallback: number, min: number, max: number): number {
  const rounded = typeof value === 'number' && Number.isFinite(value) ? Math.round(value) : fallback;
  return Math.min(Math.max(rounded, min), max);
}

/** Fields of a widget that people can edit. */
export interface WidgetFacts {
  readonly kind: WidgetKind;
  readonly title: string;
  readonly queries: readonly WidgetQuery[];
  readonly text: string;
  readonly serviceId: string | null;
  readonly teamId: string | null;
  readonly look?: ChartLook;
  readonly threshold?: number | null;
  readonly unit?: Unit | null;
  readonly leadsTo?: string | null;
}

/** Returns the widget to store for these facts. Fields that the console does not know stay. */
export function writeWidget(before: StoredWidget, id: string, facts: WidgetFacts): StoredWidget {
  const { kind, title, queries, text, serviceId, teamId, look = 'lines', threshold = null } = facts;
  const { unit = null, leadsTo = null } = facts;
  const isSameKind = readWidget(before, id).kind === kind;
  const options: Record<string, unknown> = { ...recordOf(before.options), id };
  for (const [name, value] of Object.entries({
    text: text || null,
    serviceId,
    teamId,
    look: look === 'lines' ? null : look,
    threshold,
    unit,
    leadsTo,
  })) {
    if (value === null) delete options[name];
    else options[name] = value;
  }
  const written = queries.map(writeQuery);
  const { query: _, ...rest } = before;
  return {
    ...rest,
    type: isSameKind && before.type !== undefined ? before.type : kind,
    title,
    ...(written.length > 0 && { query: written.length === 1 ? written[0] : written }),
    options,
  };
}

function writeQuery({
  serviceId,
  metricName,
  aggregation,
  isRate,
  splitBy,
  top,
}: WidgetQuery): Record<string, unknown> {
  return {
    metricName,
    ...(aggregation !== null && { aggregation }),
    ...(isRate && aggregation === 'sum' && { isRate }),
    ...(serviceId !== null && { serviceId }),
    ...(splitBy !== null && { splitBy, top }),
  };
}

/** Returns the widget at another position. */
export function placeWidget(widget: Widget, { x, y, w, h }: GridPlace): Widget {
  const { grid } = widget;
  if (grid.x === x && grid.y === y && grid.w === w && grid.h === h) return widget;
  const stored = { ...widget.stored, grid: { ...widget.stored.grid, x, y, w, h } };
  return { ...widget, grid: { x, y, w, h }, stored };
}

/** Returns the layout to save: each widget with its id, so that it is recognized later. */
export function toLayout(widgets: readonly Widget[]): StoredWidget[] {
  return widgets.map(({ id, stored }) => ({ ...stored, options: { ...recordOf(stored.options), id } }));
}

export type VariableValues = Readonly<Record<string, string>>;

/** Condition of a selector whose value is a variable: `host=\"$host\"`. */
const VARIABLE = /([A-Za-z_][\w.-]*)\s*=\s*"\$([A-Za-z]\w{0,39})"/g;

export interface DashboardVariable {
  readonly name: string;
  readonly label: string;
  readonly query: WidgetQuery;
}

/** Returns the variables that the selectors of widgets name, in their order. */
export function variablesOf(widgets: readonly Pick<Widget, 'queries'>[]): DashboardVariable[] {
  const variables = new Map<string, DashboardVariable>();
  for (const query of widgets.flatMap(({ queries }) => queries)) {
    for (const [, label = '', name = ''] of query.metricName.matchAll(VARIABLE)) {
      if (!variables.has(name)) variables.set(name, { name, label, query });
    }
  }
  return [...variables.values()].slice(0, VARIABLES_MAX);
}

/** Whether widgets that are of one service name none, on a dashboard that has none either. */
export function needsService(
  widgets: readonly Pick<Widget, 'kind' | 'queries' | 'serviceId'>[],
  ownServiceId: string | null,
): boolean {
  return (
    ownServiceId === null &&
    widgets.some(({ kind, queries, serviceId }) =>
      kind === 'monitors' ? serviceId === null : queries.some((query) => query.serviceId === null),
    )
  );
}

/** Returns the selector with the values of its variables; one without a value stands for every value. */
export function withVariables(metricName: string, values: VariableValues): string {
  return metricName.replaceAll(VARIABLE, (_, label: string, name: string) => {
    const value = values[name];
    return value === undefined ? `${label}=~".*"` : `${label}="${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function finiteOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
