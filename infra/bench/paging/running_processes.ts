import type { Progress } from '#infra/embedded/installation.ts';

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

  /** Number of kills of each process. */
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
