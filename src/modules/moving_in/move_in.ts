import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

import type { ActionContext } from '#actions/action_context.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ConfigurationFile } from '#modules/configuration/decide/file.ts';
import { type MoveInWork, seenStatus } from '#modules/moving_in/decide/move_in_state.ts';
import type { Moved, ReadingTime } from '#modules/moving_in/decide/moved.ts';
import type { RawDocument, UnreadableFile } from '#modules/moving_in/decide/raw.ts';
import { finish, type MoveInReport, reportMarkdown } from '#modules/moving_in/decide/report.ts';
import type { MoveInTool } from '#modules/moving_in/decide/tools.ts';
import { AppError } from '#kernel/errors.ts';
import type { MoveInRow } from '#modules/moving_in/store.ts';

export interface MoveInFiles {
  readonly out: string;
  readonly report: string;
}

/** Turns what was read into a configuration file and a report; throws if nothing of the tool was read. */
export function moveIn(
  tool: MoveInTool,
  documents: readonly RawDocument[],
  unreadable: readonly UnreadableFile[],
  time: ReadingTime,
): { readonly file: string; readonly report: MoveInReport; readonly markdown: string } {
  const moved = tool.read(documents, time);
  if (moved === null) {
    const faults = unreadable.slice(0, 20).map(({ path, reason }) => ` ${path}: ${reason}`);
    throw new AppError(
      'invalid_input',
      `nothing that was read looks like ${tool.title}: give the folder with its answers or its export.${faults.join('')}`,
    );
  }
  addUnreadable(moved, unreadable);
  const { file, report } = finish(moved);
  return { file: fileText(file), report, markdown: reportMarkdown(tool.title, report) };
}

/** Writes a file as YAML, one resource after the other: a tree of all of a large file would take ten times its memory. */
function fileText({ version, ...lists }: ConfigurationFile): string {
  const parts = [`version: ${version}\n`];
  for (const [name, resources] of Object.entries(lists)) {
    parts.push(`${name}:\n`);
    for (const resource of resources) {
      const text = stringify([resource], { aliasDuplicateObjects: false, lineWidth: 0 });
      parts.push(text.replaceAll(/^(?=.)/gm, '  '));
    }
  }
  return parts.join('');
}

function addUnreadable(moved: Moved, unreadable: readonly UnreadableFile[]): void {
  for (const { path, reason } of unreadable) {
    moved.ledger
      .see('file', path, path)
      .refuse(`${reason} Nothing of it was read.`, 'Export it again, and read again.');
  }
}

/** Writes the file and both reports, all or none. */
export async function writeMoveIn(
  { out, report }: MoveInFiles,
  result: { readonly file: string; readonly report: MoveInReport; readonly markdown: string },
): Promise<string[]> {
  const markdown = `${report.replace(/\.json$/i, '')}.md`;
  const suffix = `.${randomBytes(6).toString('hex')}.part`;
  const contents: (readonly [string, string])[] = [
    [out, result.file],
    [report, `${JSON.stringify(result.report, null, 2)}\n`],
    [markdown, result.markdown],
  ];
  try {
    for (const [name, content] of contents) await writeFile(`${name}${suffix}`, content, { flag: 'wx', mode: 0o600 });
    for (const [name] of contents) await rename(`${name}${suffix}`, name);
  } finally {
    await Promise.all(contents.map(([name]) => rm(`${name}${suffix}`, { force: true })));
  }
  return contents.map(([name]) => name);
}

export function workOf(
  { id, tool, proofFrom }: MoveInRow,
  { caller, origin }: Pick<ActionContext, 'caller' | 'origin'>,
): MoveInWork {
  return { moveInId: id, tool, proofFrom: proofFrom?.epochMilliseconds ?? null, caller, origin };
}

/** Returns the status of a move as it is seen, with why the last step failed. */
export function statusOf(row: MoveInRow, now: Temporal.Instant): ReturnType<typeof seenStatus> {
  const silentMs = now.epochMilliseconds - row.updatedAt.epochMilliseconds;
  return seenStatus({ status: row.status, fault: row.fault, file: row.hasFile ? '' : null, silentMs });
}

/** Throws `conflict` while a process works on the move. */
export function requireQuiet(row: MoveInRow, now: Temporal.Instant): void {
  const { status } = statusOf(row, now);
  if (status === 'reading' || status === 'applying')
    throw new AppError('conflict', 'this move is being worked on; wait until it is done');
}
