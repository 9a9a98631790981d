/** An error in the words of ClickHouse, from the engine or from this server itself. */
export class ClickHouseFailure extends Error {
  readonly code: number;
  readonly type: string;

  constructor(code: number, type: string, message: string) {
    super(message);
    this.name = 'ClickHouseFailure';
    this.code = code;
    this.type = type;
  }

  /** The text that a ClickHouse server sends and clients parse. */
  get text(): string {
    return `Code: ${this.code}. DB::Exception: ${this.message} (${this.type})\n`;
  }

  get status(): number {
    return STATUS_BY_CODE.get(this.code) ?? 500;
  }
}

const CODES_BY_STATUS: readonly (readonly [number, readonly number[]])[] = [
  [400, [6, 26, 27, 33, 38, 41, 53, 62, 72, 117, 130, 321, 456]],
  [403, [497, 516]],
  [404, [46, 47, 50, 56, 60, 63, 73, 81, 115]],
  [408, [159]],
  [409, [216]],
  [413, [1003]],
  [499, [394]],
  [501, [48]],
  [503, [236]],
];

const STATUS_BY_CODE = new Map(CODES_BY_STATUS.flatMap(([status, codes]) => codes.map((code) => [code, status])));

const ENGINE_MESSAGE = /^(?:Code: (\d+)\. )?(?:DB::Exception: )?([\s\S]*?)\s*(?:\(([A-Z][A-Z0-9_]{2,})\))?$/;
const INNER_PREFIX = /^Code: \d+\. DB::Exception: /;
const INNER_SUFFIX = /\s*\(version [^)]*\)\.?$/;

/** Parses what the engine throws: one line of text, which repeats code and version when errors are nested. */
export function toFailure(error: unknown): ClickHouseFailure {
  if (error instanceof ClickHouseFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [, code = '1002', message = text, type = 'UNKNOWN_EXCEPTION'] = ENGINE_MESSAGE.exec(text) ?? [];
  return new ClickHouseFailure(Number(code), type, message.replace(INNER_PREFIX, '').replace(INNER_SUFFIX, ''));
}
