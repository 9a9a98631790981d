import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { eventOfClient, type LabelledEvent } from './labelled_event.ts';

const run = promisify(execFile);

interface Language {
  readonly platform: string;
  readonly command: string;
  readonly file: string;
  readonly program: string;
  readonly comment: string;
}

const PYTHON = `
import json, random, sys, traceback
class Declined(Exception): pass
def charge(order): raise Declined(f"order {order} was declined")
def checkout(order): return charge(order)
def total(items): return sum(item["price"] for item in items)
def find(users, name): return users[name]
def ratio(a, b): return a / b
def parse(text): return json.loads(text)
def first(items): return items[0]
mistakes = {
    "declined": lambda: checkout(random.randrange(10**6)),
    "price": lambda: total([{"cost": 1}]),
    "user": lambda: find({}, f"user{random.randrange(10**4)}"),
    "ratio": lambda: ratio(1, 0),
    "json": lambda: parse("<html>"),
    "first": lambda: first([]),
    "int": lambda: int(f"x{random.randrange(99)}"),
}
thrown = []
for label, make in mistakes.items():
    try: make()
    except Exception as error:
        frames = [{"function": frame.name, "filename": frame.filename.split("/")[-1], "abs_path": frame.filename, "lineno": frame.lineno, "context_line": frame.line, "module": "shop"} for frame in traceback.extract_tb(error.__traceback__)]
        thrown.append({"label": "python " + label, "type": type(error).__name__, "value": str(error), "frames": frames})
print(json.dumps(thrown))
`;

const RUBY = `
require 'json'
class Declined < StandardError; end
def charge(order) = raise(Declined, "order #{order} was declined")
def checkout(order) = charge(order)
def total(items) = items.sum { |item| item.fetch(:price) }
def ratio(a, b) = a / b
def parse(text) = JSON.parse(text)
def email(user) = user.email
mistakes = {
  declined: -> { checkout(rand(1_000_000)) },
  price: -> { total([{ cost: 1 }]) },
  ratio: -> { ratio(1, 0) },
  json: -> { parse('<html>') },
  email: -> { email(nil) },
}
source = File.readlines(__FILE__)
thrown = mistakes.map do |label, make|
  make.call
rescue StandardError => error
  frames = error.backtrace_locations.reverse.map do |at|
    { function: at.label, filename: File.basename(at.path), abs_path: at.absolute_path, lineno: at.lineno, context_line: at.path == __FILE__ ? source[at.lineno - 1] : nil }
  end
  { label: "ruby #{label}", type: error.class.name, value: error.message, frames: frames }
end
puts JSON.generate(thrown)
`;

const LANGUAGES: readonly Language[] = [
  { platform: 'python', command: 'python3', file: 'shop.py', program: PYTHON, comment: '#' },
  { platform: 'ruby', command: 'ruby', file: 'shop.rb', program: RUBY, comment: '#' },
];

interface Thrown {
  readonly label: string;
  readonly type: string;
  readonly value: string;
  readonly frames: readonly unknown[];
}

/** Every mistake of a program in each language, run twice: from two folders, its lines moved in between. */
export async function programErrors(folder: string): Promise<readonly LabelledEvent[]> {
  const errors: LabelledEvent[] = [];
  for (const language of LANGUAGES) {
    for (const [index, place] of ['release-1', 'release-2/app'].entries()) {
      const moved = `${language.comment} moved\n`.repeat(1 + 17 * index);
      errors.push(...(await errorsOf(language, path.join(folder, language.platform, place), moved)));
    }
  }
  return errors;
}

/** Empty where the language is not installed. */
async function errorsOf(
  { platform, command, file, program }: Language,
  folder: string,
  moved: string,
): Promise<readonly LabelledEvent[]> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, file), moved + program);
  let output: string;
  try {
    output = (await run(command, [path.join(folder, file)])).stdout;
  } catch (error) {
    console.log(`  ${command} did not run: ${error instanceof Error ? error.message.split('\n')[0] : ''}`);
    return [];
  }
  return (JSON.parse(output) as Thrown[]).map(({ label, type, value, frames }) => ({
    label,
    event: eventOfClient({ platform, exception: { values: [{ type, value, stacktrace: { frames } }] } }),
  }));
}
