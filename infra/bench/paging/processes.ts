import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import type { Progress } from '#infra/embedded/installation.ts';

/** Resources of the processes of one kind, on Linux. */
export interface ProcessUse {
  readonly name: string;
  readonly processes: number;
  /** Resident memory as `ps` shows it: memory that several processes share counts in each. */
  readonly residentBytes: number;
  /** Nobody else's: it would be free if the process ended. */
  readonly ownBytes: number;
}

/** Kinds of processes by a part of the command line; others are PostgreSQL's, which rename themselves. */
const NAMES = [
  ['infra/embedded/start.ts', 'Supervisor'],
  ['infra/embedded/chdb_server', 'ClickHouse'],
  ['infra/embedded/phone_simulator', 'Phone simulator'],
  ['src/entry/api.ts', 'API'],
  ['workers/main.ts worker', 'Worker'],
  ['workers/main.ts pager', 'Pager'],
  ['redis-server', 'Redis'],
  ['infra/bench/scale/bare_server', 'Bare server'],
  ['infra/bench', 'Supervisor (this program)'],
] as const;

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** This process and all below it by kind, the largest first. */
export function useBelow(pid: number): ProcessUse[] {
  const mapped = [...pidsBelow(pid)].flatMap((id) => {
    const name = nameOf(id);
    return name === null ? [] : [{ name, mappings: mappingsOf(id) }];
  });
  const kinds = [...Map.groupBy(mapped, ({ name }) => name)].map(([name, group]) => ({
    name,
    processes: group.length,
    residentBytes: sum(group.flatMap(({ mappings }) => mappings.map(({ residentBytes }) => residentBytes))),
    ownBytes: sum(group.flatMap(({ mappings }) => mappings.map(({ ownBytes }) => ownBytes))),
  }));
  return kinds.toSorted((a, b) => b.ownBytes - a.ownBytes);
}

/** Returns the resident memory of the processes of a kind, as `ps` shows it: cheaper than reading what they have mapped. */
export function residentOf(pid: number, kind: string): number {
  const pids = [...pidsBelow(pid)].filter((id) => nameOf(id) === kind);
  return sum(pids.map((id) => Number(/^VmRSS:\s+(\d+)/m.exec(text(`/proc/${id}/status`))?.[1] ?? 0) * 1024));
}

/** Shares of one processor, by kind of process, over this time. What a process that ended meanwhile used is left out. */
export async function processorBelow(pid: number, forMs: number): Promise<ReadonlyMap<string, number>> {
  const spentMs = countProcessorBelow(pid);
  await delay(forMs);
  return new Map([...spentMs()].map(([name, ms]) => [name, ms / forMs]));
}

/** Returns how many milliseconds of processor each kind of process has used from now on; as `processorBelow`. */
export function countProcessorBelow(pid: number): () => ReadonlyMap<string, number> {
  const before = new Map([...pidsBelow(pid)].map((id) => [id, cpuMsOf(id)]));
  return () => {
    const spent = [...pidsBelow(pid)].map((id) => ({ name: nameOf(id), ms: cpuMsOf(id) - (before.get(id) ?? 0) }));
    return new Map(
      [...Map.groupBy(spent, ({ name }) => name)].flatMap(([name, group]): [string, number][] =>
        name === null ? [] : [[name, sum(group.map(({ ms }) => ms))]],
      ),
    );
  };
}

/** Processor time that each kind of process has used since it began, and programs that have ended. */
export function processorUsedBelow(pid: number): ReadonlyMap<string, number> {
  const used = [...pidsBelow(pid)].flatMap((id) => [
    { name: nameOf(id), ms: cpuMsOf(id) },
    { name: 'Programs that have ended', ms: endedMsOf(id) },
  ]);
  return new Map(
    [...Map.groupBy(used, ({ name }) => name)].flatMap(([name, group]): [string, number][] =>
      name === null ? [] : [[name, sum(group.map(({ ms }) => ms))]],
    ),
  );
}

/**
 * Returns the memory of all processes together, or of some kinds, with programs and memory that several of them map
 * counted once: of each file the part that the process with the largest has in memory.
 */
export function residentTogether(pid: number, kinds: readonly string[] | null = null): number {
  const files = new Map<string, number>();
  let largest = 0;
  const pids = [...pidsBelow(pid)].filter((id) => kinds === null || kinds.includes(nameOf(id) ?? ''));
  for (const mapping of pids.flatMap(mappingsOf)) {
    largest += mapping.ownBytes;
    files.set(mapping.file, Math.max(files.get(mapping.file) ?? 0, mapping.residentBytes - mapping.ownBytes));
  }
  return largest + sum([...files.values()]);
}

function* pidsBelow(pid: number): Generator<number> {
  yield pid;
  for (const thread of listed(`/proc/${pid}/task`)) {
    for (const child of text(`/proc/${pid}/task/${thread}/children`).split(' ')) {
      if (child !== '') yield* pidsBelow(Number(child));
    }
  }
}

/** Null when the process has ended meanwhile. */
function nameOf(pid: number): string | null {
  const command = text(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  if (command === '') return null;
  return NAMES.find(([part]) => command.includes(part))?.[1] ?? 'PostgreSQL';
}

const cpuMsOf = (pid: number): number => ticksOf(pid, 11, 12) * TICK_MS;

/** Returns the time of child programs that have ended. */
const endedMsOf = (pid: number): number => ticksOf(pid, 13, 14) * TICK_MS;

function ticksOf(pid: number, user: number, system: number): number {
  const stat = text(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[user] ?? 0) + Number(fields[system] ?? 0);
}

interface Mapping {
  /** Mapped file; several processes may share it. */
  readonly file: string;
  readonly residentBytes: number;
  readonly ownBytes: number;
}

function mappingsOf(pid: number): Mapping[] {
  const mappings = text(`/proc/${pid}/smaps`).split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  return mappings.filter((mapping) => mapping !== '').map(toMapping);
}

function toMapping(mapping: string): Mapping {
  const [head = ''] = mapping.split('\n', 1);
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(mapping)?.[1] ?? 0);
  const [, , offset, , inode, ...name] = head.split(/\s+/);
  return {
    file: `${name.join(' ')}:${inode}:${offset}`,
    residentBytes: kilobytes('Rss') * 1024,
    ownBytes: kilobytes('Anonymous') * 1024,
  };
}

/** Empty when the process has ended meanwhile. */
function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The processes that run now, without the phone simulator: it stands for the provider, which is not ours. */
export class RunningProcesses {
  readonly #pids = new Map<string, number>();
  readonly #killed = new Map<string, number>();

  note(progress: Progress): void {
    if (progress.kind === 'ready' && progress.service !== 'Phone simulator') {
      this.#pids.set(progress.service, progress.pid);
    }
    if (progress.kind === 'died') this.#pids.delete(progress.service);
  }

  get running(): readonly string[] {
    return [...this.#pids.keys()].toSorted();
  }

  get killed(): ReadonlyMap<string, number> {
    return this.#killed;
  }

  pidOf(name: string): number | undefined {
    return this.#pids.get(name);
  }

  kill(name: string): void {
    const pid = this.#pids.get(name);
    if (pid === undefined) throw new Error(`${name} does not run`);
    this.#pids.delete(name);
    process.kill(pid, 'SIGKILL');
    this.#killed.set(name, (this.#killed.get(name) ?? 0) + 1);
  }
}
