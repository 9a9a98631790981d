/** A body with one thing wrong, as text, since some faults are none that JSON.stringify writes. */
export interface FaultyBody {
  readonly fault: string;
  readonly path: string;
  readonly body: string;
}

/** The part of JSON Schema that input schemas use. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly const?: string;
}

/** Stands in the object where the text is to have a number that no double holds. */
const TOO_LARGE = '<1e400>';

/** Function that puts a fault into the body: the value comes last. */
type Put = (value: unknown) => unknown;

/** Every way in which a body can miss its schema, one fault at a time, derived from the schema and a body that fits it. */
export function faultyBodies(schema: object, good: object): FaultyBody[] {
  const bodies: FaultyBody[] = [];
  const add = (fault: string, path: string, body: unknown) => {
    bodies.push({ fault, path, body: JSON.stringify(body).replaceAll(`"${TOO_LARGE}"`, '1e400') });
  };

  const visit = (part: Schema, value: unknown, path: string, put: Put): void => {
    const wrong = (fault: string, faulty: unknown) => add(fault, path, put(faulty));
    if (part.anyOf !== undefined) {
      const [alternative, nothing] = part.anyOf;
      if (alternative?.const !== undefined && nothing?.type === 'object') {
        for (const faulty of [60, 'unheard_of', null, []]) wrong('neither the word nor the object', faulty);
        return;
      }
      if (alternative?.type === 'string' && nothing?.type === 'object') {
        for (const faulty of [60, null, []]) wrong('neither the text nor the object', faulty);
        return;
      }
      if (nothing?.type !== 'null') throw new Error(`${path}: only "or null" is expected`);
      visitValue(alternative!, value ?? sampleOf(alternative!), path, put, wrong);
      return;
    }
    if (part.type !== undefined || part.enum !== undefined) wrong('null where it is not allowed', null);
    visitValue(part, value ?? sampleOf(part), path, put, wrong);
  };

  const visitValue = (
    part: Schema,
    value: unknown,
    path: string,
    put: Put,
    wrong: (fault: string, faulty: unknown) => void,
  ): void => {
    if (part.enum !== undefined) {
      wrong('a value that is not in the enumeration', 'unheard_of');
      wrong(
        'a value in another case',
        part.enum[0]!.toUpperCase() === part.enum[0] ? '=' : part.enum[0]!.toUpperCase(),
      );
      wrong('a number for one of several texts', 0);
      wrong('an array for one of several texts', [part.enum[0]]);
      return;
    }
    switch (part.type) {
      case 'string':
        wrong('a number for a text', 60);
        wrong('a boolean for a text', false);
        wrong('an object for a text', { text: 'text' });
        wrong('U+0000 in a text', 'a\0b');
        wrong('half a surrogate pair in a text', 'a\uD800b');
        if ((part.minLength ?? 0) > 0) wrong('an empty text', '');
        if (part.maxLength !== undefined) wrong('a text that is too long', 'x'.repeat(part.maxLength + 1));
        if (part.pattern === '\\S') wrong('nothing but white space', ' \t\n\u00A0\u3000');
        else if (part.pattern !== undefined) wrong('a text of another form', textUnlike(part.pattern));
        return;
      case 'integer':
      case 'number':
        if (part.type === 'integer') wrong('a fraction for an integer', 1.5);
        wrong('digits in a text for a number', '60');
        wrong('a boolean for a number', true);
        wrong('an empty text for a number', '');
        wrong('a number beyond all doubles', TOO_LARGE);
        if (part.minimum !== undefined) wrong('one less than the least', part.minimum - 1);
        if (part.maximum !== undefined) wrong('one more than the most', part.maximum + 1);
        return;
      case 'boolean':
        wrong('a text for a boolean', 'true');
        wrong('a number for a boolean', 1);
        return;
      case 'array':
        wrong('an object for an array', { 0: 'a' });
        wrong('a text for an array', 'a');
        if ((part.minItems ?? 0) > 0) wrong('an empty array', []);
        if (part.maxItems !== undefined) {
          const [item = sampleOf(part.items!)] = value as unknown[];
          wrong(
            'an array of too many',
            Array.from({ length: part.maxItems + 1 }, () => item),
          );
        }
        visitLastItem(part.items!, value as unknown[], path, put);
        return;
      case 'object':
        if (path !== '') {
          wrong('an array for an object', []);
          wrong('a text for an object', '{}');
        }
        visitObject(part, value as Record<string, unknown>, path, put);
        return;
      case undefined:
        if (/(^|\.)(startAt|endAt)$/.test(path)) visitMoment(wrong);
        else {
          add('U+0000 deep in free JSON', `${path}.deep[0]`, put({ deep: ['a\0b'] }));
          add('U+0000 in a name of free JSON', `${path}.a\0b`, put({ 'a\0b': 1 }));
          add('a number beyond all doubles in free JSON', `${path}.huge`, put({ huge: TOO_LARGE }));
        }
    }
  };

  const visitLastItem = (part: Schema, items: readonly unknown[], path: string, put: Put): void => {
    visit(part, items[0], `${path}[${items.length}]`, (item) => put([...items, item]));
  };

  const visitObject = (part: Schema, value: Record<string, unknown>, path: string, put: Put): void => {
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    for (const name of part.required ?? []) {
      const { [name]: _left, ...rest } = value;
      add('a required property is missing', at(name), put(rest));
    }
    if (part.additionalProperties === false) {
      for (const name of ['unheard_of', 'ServiceID', 'constructor', ' ']) {
        add('a property that is not listed', at(name), put({ ...value, [name]: 1 }));
      }
      const polluted = put(JSON.parse(JSON.stringify({ ...value, '~': 1 }).replace('"~"', '"__proto__"')));
      add('a property that is not listed', at('__proto__'), polluted);
    }
    for (const [name, property] of Object.entries(part.properties ?? {})) {
      visit(property, value[name], at(name), (inner) => put({ ...value, [name]: inner }));
    }
  };

  visit(schema, good, '', (body) => body);
  // At the top the body itself cannot be null and yet be a body: that is tested with the other media.
  return bodies.filter(({ path }) => path !== '');
}

/** Times are untyped in the contract; what they may be is said in words. */
function visitMoment(wrong: (fault: string, faulty: unknown) => void): void {
  wrong('no moment at all', 'tomorrow');
  wrong('a day that no calendar has', '2027-02-30T09:00:00Z');
  wrong('a fraction of a millisecond', 1.5);
  wrong('a boolean for a moment', true);
  wrong('an object for a moment', {});
  wrong('a moment before 1970', -1);
}

/** Something that fits. */
function sampleOf(part: Schema): unknown {
  if (part.enum !== undefined) return part.enum[0];
  switch (part.type) {
    case 'object':
      return Object.fromEntries(Object.entries(part.properties ?? {}).map(([name, inner]) => [name, sampleOf(inner)]));
    case 'array':
      return [sampleOf(part.items!)];
    case 'string':
      return 'text';
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return part.minimum ?? 1;
    default:
      return null;
  }
}

/** A body in which everything is wrong at once, and the paths that have to be named. */
export function whollyWrongBody(schema: Schema): { body: Record<string, unknown>; paths: string[] } {
  const properties = Object.entries(schema.properties ?? {});
  const body = Object.fromEntries(properties.map(([name, { type }]) => [name, type === 'array' ? 'text' : []]));
  return { body: { ...body, unheard_of: 1, another: 2 }, paths: [...Object.keys(body), 'unheard_of', 'another'] };
}

const FORMS = ['no such form', ' padded ', '***'];

function textUnlike(pattern: string): string {
  const found = FORMS.find((form) => !new RegExp(pattern, 'u').test(form));
  if (found === undefined) throw new Error(`a text that ${pattern} refuses is missing here`);
  return found;
}
