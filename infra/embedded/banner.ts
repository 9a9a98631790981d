import type { Facts, Progress } from './installation.ts';

export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Messages on the terminal during the start, once things run, and when a process dies. */
export class Banner {
  readonly #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  progress(progress: Progress): void {
    switch (progress.kind) {
      case 'ready':
        return this.#line(this.#green('✓'), progress.service, this.#faint(seconds(progress.tookMs)));
      case 'migrated':
        return this.#line(this.#green('✓'), 'Migrations', this.#faint(seconds(progress.tookMs)));
      case 'died':
        return this.#line(
          this.#red('✗'),
          progress.service,
          `died (${progress.how}); restarting in ${seconds(progress.restartInMs)}`,
        );
      case 'start_failed':
        return this.#line(
          this.#red('✗'),
          progress.service,
          `failed to start (${reasonsOf(progress.error)}); retrying in ${seconds(progress.restartInMs)}`,
        );
    }
  }

  running(facts: Facts, tookMs: number): void {
    const rows: (readonly [string, string] | null)[] = [
      ['API and console', facts.apiUrl],
      facts.phoneUrl === null ? null : ['Phone simulator', `${this.#secret(facts.phoneUrl)}  (no Twilio account)`],
      ['PostgreSQL', facts.postgres],
      ['ClickHouse', facts.clickhouse],
      ['Queue', `in ${facts.queue}`],
      ['Data folder', facts.dataDir],
      facts.firstRunFile === null ? null : ['How to sign in', facts.firstRunFile],
    ];
    const lines = rows.filter((row) => row !== null).map(([name, value]) => `  ${name.padEnd(18)}${value}\n`);
    const title = `${this.#bold('Tocsin is running')} ${this.#faint(`after ${seconds(tookMs)}`)}`;
    this.#screen.write(
      `\n${title}\n\n${lines.join('')}${this.#credentials(facts)}\n${this.#faint('Ctrl-C stops everything.')}\n\n`,
    );
  }

  /** Anyone who knows the address of the phones can answer for anyone. */
  #secret(address: string): string {
    return this.#screen.isTTY === true
      ? address
      : `${new URL(address).origin}/… (phoneUrl in running.json has it whole)`;
  }

  /** Shown at the first start only, and only on a terminal: output that goes to a file stays there. */
  #credentials({ firstRun, firstRunFile }: Facts): string {
    if (firstRun === null) return '';
    if (this.#screen.isTTY !== true)
      return `\nThe password and the API key of this first start are in ${firstRunFile}.\n`;
    const rows = [
      ['E-mail', firstRun.email],
      ['Password', firstRun.password],
      ['API key', firstRun.apiKey],
    ];
    const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(18)}${value}\n`);
    return `\n${this.#bold('Created at this first start, and shown this once')}\n\n${lines.join('')}`;
  }

  note(text: string): void {
    this.#screen.write(`${text}\n`);
  }

  stopping(reason: string): void {
    this.#screen.write(`\nStopping (${reason}) …\n`);
  }

  failed(error: unknown): void {
    this.#screen.write(`\n${this.#red('Tocsin could not start:')} ${reasonsOf(error)}\n`);
  }

  #line(mark: string, name: string, text: string): void {
    this.#screen.write(`${mark} ${name.padEnd(18)}${text}\n`);
  }

  readonly #bold = (text: string) => this.#paint('1', text);
  readonly #faint = (text: string) => this.#paint('2', text);
  readonly #red = (text: string) => this.#paint('31', text);
  readonly #green = (text: string) => this.#paint('32', text);

  #paint(code: string, text: string): string {
    return this.#screen.isTTY ? `\u001B[${code}m${text}\u001B[0m` : text;
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** The message of the error and of its causes. */
function reasonsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonsOf(error.cause)}`;
}
