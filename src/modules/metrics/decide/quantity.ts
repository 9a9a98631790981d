import { divideExpression } from '#modules/metrics/decide/ratio.ts';

/** Units of a metric's numbers, as far as its name tells. */
export const UNITS = [
  'none',
  'seconds',
  'bytes',
  'bits',
  'ratio',
  'percent',
  'celsius',
  'hertz',
  'volts',
  'watts',
] as const;
export type Unit = (typeof UNITS)[number];

interface Scale {
  /** Size in the plain unit. */
  readonly size: number;
  /** Least amount of the plain unit for which it is used. */
  readonly least: number;
  readonly symbol: string;
  readonly spoken: string;
}

const scaleOf = (size: number, symbol: string, spoken: string, least = size): Scale => ({
  size,
  least,
  symbol,
  spoken,
});

const PLAIN_SCALE = scaleOf(1, '', '', 0);

/** Scales of each unit, from the smallest up. */
const SCALES: Readonly<Record<Unit, readonly Scale[]>> = {
  none: [PLAIN_SCALE, scaleOf(1e6, ' M', ' million'), scaleOf(1e9, ' G', ' billion'), scaleOf(1e12, ' T', ' trillion')],
  seconds: [
    scaleOf(1e-9, ' ns', ' nanoseconds'),
    scaleOf(1e-6, ' µs', ' microseconds'),
    scaleOf(1e-3, ' ms', ' milliseconds'),
    scaleOf(1, ' s', ' seconds'),
    scaleOf(60, ' min', ' minutes', 120),
    scaleOf(3_600, ' h', ' hours', 7_200),
    scaleOf(86_400, ' d', ' days', 172_800),
  ],
  bytes: [
    scaleOf(1, ' B', ' bytes'),
    scaleOf(1e3, ' kB', ' kilobytes'),
    scaleOf(1e6, ' MB', ' megabytes'),
    scaleOf(1e9, ' GB', ' gigabytes'),
    scaleOf(1e12, ' TB', ' terabytes'),
    scaleOf(1e15, ' PB', ' petabytes'),
  ],
  bits: [
    scaleOf(1, ' bit', ' bits'),
    scaleOf(1e3, ' kbit', ' kilobits'),
    scaleOf(1e6, ' Mbit', ' megabits'),
    scaleOf(1e9, ' Gbit', ' gigabits'),
  ],
  ratio: [scaleOf(0.01, '%', ' percent')],
  percent: [scaleOf(1, '%', ' percent')],
  celsius: [scaleOf(1, ' °C', ' degrees')],
  hertz: [scaleOf(1, ' Hz', ' hertz'), scaleOf(1e3, ' kHz', ' kilohertz'), scaleOf(1e6, ' MHz', ' megahertz')],
  volts: [scaleOf(1, ' V', ' volts')],
  watts: [scaleOf(1, ' W', ' watts'), scaleOf(1e3, ' kW', ' kilowatts'), scaleOf(1e6, ' MW', ' megawatts')],
};

/** Words at the end of a name, with their unit and how many of it one is. */
const WORDS: Readonly<Record<string, readonly [Unit, number]>> = {
  seconds: ['seconds', 1],
  milliseconds: ['seconds', 1e-3],
  ms: ['seconds', 1e-3],
  microseconds: ['seconds', 1e-6],
  us: ['seconds', 1e-6],
  nanoseconds: ['seconds', 1e-9],
  ns: ['seconds', 1e-9],
  minutes: ['seconds', 60],
  hours: ['seconds', 3_600],
  days: ['seconds', 86_400],
  bytes: ['bytes', 1],
  kilobytes: ['bytes', 1e3],
  megabytes: ['bytes', 1e6],
  gigabytes: ['bytes', 1e9],
  kibibytes: ['bytes', 1_024],
  mebibytes: ['bytes', 1_048_576],
  gibibytes: ['bytes', 1_073_741_824],
  bits: ['bits', 1],
  ratio: ['ratio', 1],
  percent: ['percent', 1],
  percentage: ['percent', 1],
  pct: ['percent', 1],
  celsius: ['celsius', 1],
  hertz: ['hertz', 1],
  hz: ['hertz', 1],
  volts: ['volts', 1],
  watts: ['watts', 1],
};

/** Unit of a metric, and how many of it one of the metric's numbers is. */
export interface Measure {
  readonly unit: Unit;
  readonly factor: number;
  /** Whether the numbers are of a second. */
  readonly isRate?: true;
}

const PLAIN: Measure = { unit: 'none', factor: 1 };

/**
 * Returns the unit of an aggregation's values, by the last word of the metric's name (`http_request_duration_seconds`,
 * `process.memory.bytes`), or else by `sentUnit`, the name of the unit that its sender tells. A number of points has no unit, and a time of day is
 * no duration. Of a ratio as `measureOfRatio`.
 */
export function measureOf(metricName: string, aggregation: string, sentUnit: string | null = null): Measure {
  const divided = divideExpression(metricName);
  const [dividend, divisor] = divided.sides;
  if (dividend !== undefined && divisor !== undefined) {
    return measureOfRatio(dividend.text, divisor.text, divided.factor?.text, aggregation);
  }
  if (aggregation === 'count') return PLAIN;
  const [name = ''] = metricName.split('{', 1);
  const words = name.trim().toLowerCase().split(/[_.:]/);
  if (words.length > 1 && ['total', 'sum', 'max', 'min', 'avg'].includes(words.at(-1) ?? '')) words.pop();
  if (['timestamp', 'time', 'created'].includes(words.at(-2) ?? '') && /start|boot|stamp|creat/.test(name))
    return PLAIN;
  const [unit, factor] = WORDS[words.at(-1) ?? ''] ?? WORDS[sentUnit ?? ''] ?? ['none', 1];
  return { unit, factor };
}

/**
 * Returns the unit of a ratio: percent for one times 100, a share where a metric or a unit is divided by itself, and the upper
 * side's unit where something without a unit divides it, as in bytes for each request.
 */
function measureOfRatio(dividend: string, divisor: string, factor: string | undefined, aggregation: string): Measure {
  const times = factor === undefined ? 1 : Number(factor);
  const [upper, lower] = [measureOf(dividend, aggregation), measureOf(divisor, aggregation)];
  const isShare = upper.unit === lower.unit && (upper.unit !== 'none' || nameIn(dividend) === nameIn(divisor));
  if (upper.unit === lower.unit && times === 100) return { unit: 'percent', factor: upper.factor / lower.factor };
  if (times !== 1) return PLAIN;
  if (isShare) return { unit: 'ratio', factor: upper.factor / lower.factor };
  return lower.unit === 'none' ? upper : PLAIN;
}

function nameIn(selector: string): string {
  return selector.split('{', 1)[0]?.trim() ?? '';
}

/** Returns the measure of what grows by so much in a second. Seconds a second are a plain number: how many are busy at once. */
export function measureOfRate(metricName: string, sentUnit: string | null = null): Measure {
  const measure = measureOf(metricName, 'sum', sentUnit);
  return measure.unit === 'seconds' ? { unit: 'none', factor: measure.factor } : { ...measure, isRate: true };
}

/** Digits of a value: two or three tell what it is like; more are noise at 3 a.m. */
const DIGITS = 3;
const DIGITS_MAX = 15;
/** Digits of a limit, which is shown as somebody set it, unless it is longer than anybody writes. */
const LIMIT_DIGITS = 6;

interface Form {
  readonly digits?: number;
  readonly isSpoken?: boolean;
}

/** Formats a value with its unit, with three digits, whole if it is large: `1.24 s`, `93.5%`, `1.5 GB`, `1,240`. */
export function quantityText(value: number, measure: Measure, { digits = DIGITS, isSpoken }: Form = {}): string {
  const { amount, scale } = shownAs(value, measure, digits);
  const isRate = measure.isRate === true;
  if (isSpoken === true) return `${amountText(amount)}${scale.spoken}${isRate ? ' per second' : ''}`;
  return `${amountText(amount)}${scale.symbol}${isRate ? '/s' : ''}`;
}

/** A measured value and the threshold of its rule. */
interface Compared {
  readonly value: number | null;
  readonly threshold: number;
  /** Whether the value is the highest bound of a histogram, and the quantile more than it. */
  readonly isMoreThan?: boolean;
}

/**
 * Returns value and threshold in words. The value has as many digits as it takes to see on which side of the threshold
 * it is: 100.04 is not shown as `100 > 100`.
 */
export function comparedTexts(
  { value, threshold, isMoreThan = false }: Compared,
  measure: Measure,
  form: Pick<Form, 'isSpoken'> = {},
): { readonly value: string; readonly threshold: string } {
  const limit = quantityText(threshold, measure, { ...form, digits: LIMIT_DIGITS });
  if (value === null) return { value: 'no value', threshold: limit };
  const seen = (of: number, digits: number): number => {
    const { amount, scale } = shownAs(of, measure, digits);
    return amount * scale.size;
  };
  const shownLimit = seen(threshold, LIMIT_DIGITS);
  let digits = DIGITS;
  while (digits < DIGITS_MAX && Math.sign(seen(value, digits) - shownLimit) !== Math.sign(value - threshold)) {
    digits += 1;
  }
  const shown = quantityText(value, measure, { ...form, digits });
  return { value: isMoreThan ? `more than ${shown}` : shown, threshold: limit };
}

interface Shown {
  /** The number before the unit, rounded. */
  readonly amount: number;
  readonly scale: Scale;
}

function shownAs(value: number, { unit, factor }: Measure, digits: number): Shown {
  const base = value * factor;
  const scales = SCALES[unit];
  const size = Math.abs(Number(base.toPrecision(digits)));
  const [smallest = PLAIN_SCALE] = scales;
  // Zero is shown in the plain unit.
  const plain = scales.find((scale) => scale.size === 1) ?? smallest;
  const scale = size === 0 ? plain : (scales.findLast(({ least }) => size >= least) ?? smallest);
  return { amount: roundTo(base / scale.size, digits), scale };
}

/** Rounds to so many digits, but never one before the point: a whole number reads as exact. */
function roundTo(value: number, digits: number): number {
  const size = Math.abs(value);
  const whole = size < 1 ? 0 : Math.floor(Math.log10(size)) + 1;
  return Number(value.toPrecision(Math.min(Math.max(digits, whole), DIGITS_MAX)));
}

/** Number format, made on first use: it takes a phone 10 ms, and each page of the console loads this file. */
let plainNumbers: Intl.NumberFormat | undefined;

function amountText(amount: number): string {
  const size = Math.abs(amount);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) return amount.toExponential();
  plainNumbers ??= new Intl.NumberFormat('en', { maximumSignificantDigits: DIGITS_MAX });
  return plainNumbers.format(amount);
}
