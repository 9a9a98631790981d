import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { keyOf } from '#modules/moving_in/ask_files.ts';
import { ASKED_TOOLS } from '#modules/moving_in/ask_tools.ts';
import { addressOf } from '#modules/moving_in/ask.ts';
import { VERDICTS } from '#modules/moving_in/decide/ledger.ts';
import { MOVE_IN_STATUSES } from '#modules/moving_in/decide/move_in_state.ts';
import { keyOfItem } from '#modules/moving_in/decide/tools.ts';
import { TOOL_NAMES } from '#modules/moving_in/decide/tool_names.ts';
import { PART_LENGTH_MAX, PARTS_MAX, UPLOAD_LENGTH_MAX } from '#modules/moving_in/decide/upload_limits.ts';
import { requireQuiet, statusOf, workOf } from '#modules/moving_in/move_in.ts';
import type { MoveInRow } from '#modules/moving_in/store.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';

const createMoveIn = defineOperation({
  name: 'create_move_in',
  summary: 'Begin to move in from another tool. Nothing is read before files are added or a key is given.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    tool: Type.Enum([...TOOL_NAMES]),
    proofFrom: Type.Optional(
      Type.String({ maxLength: 40, description: 'RFC 3339; the days around the next changes of clocks when left out' }),
    ),
  }),
  result: Type.Object({ moveInId: IdText }),
  example: { tool: 'pagerduty', proofFrom: '2027-03-01T00:00:00Z' },
  async handle({ tool, proofFrom }, { caller, stores, now, record }) {
    const from = proofFrom === undefined ? null : unwrap(parseInstant(proofFrom, 'UTC', 'proofFrom'));
    const createdBy = caller.actor.kind === 'user' ? caller.actor.userId : null;
    const moveInId = await stores.moveIns.insert({ orgId: caller.orgId, tool, proofFrom: from, createdBy }, now);
    record({ target: moveInId, before: null, after: { tool } });
    return { moveInId };
  },
});

const addMoveInFile = defineOperation({
  name: 'add_move_in_file',
  summary: 'Add a file of another tool, or a part of one, to a move that has not been read yet.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    moveInId: IdText,
    name: Type.String({ minLength: 1, maxLength: 300, description: 'path of the file within its folder' }),
    part: Type.Integer({ minimum: 0, maximum: PARTS_MAX, description: 'parts are put together in this order' }),
    text: Type.String({ maxLength: PART_LENGTH_MAX }),
  }),
  result: Type.Object({ length: Type.Integer({ description: 'characters of all files so far' }) }),
  conflict: 'the move is being read, or was',
  example: { name: 'users.json', part: 0, text: '{"users":[]}' },
  async handle({ moveInId, name, part, text }, { caller, stores, now, record }) {
    const { moveIns } = stores;
    const move = await moveIns.lock(caller.orgId, moveInId);
    if (move.status !== 'collecting' && move.status !== 'failed')
      throw new AppError('conflict', 'this move was read already; begin another one');
    await moveIns.keepPart(move.id, name, part, text);
    const length = await moveIns.countKept(move.id);
    if (length > UPLOAD_LENGTH_MAX) {
      const megabytes = UPLOAD_LENGTH_MAX / 1_000_000;
      throw new AppError('conflict', `the files have more than ${megabytes} MB; move in by the command line`);
    }
    await moveIns.save(move.id, { updatedAt: now });
    if (part === 0) record({ target: move.id, before: null, after: { file: name } });
    return { length };
  },
});

const readMoveIn = defineOperation({
  name: 'read_move_in',
  summary:
    'Read what another tool says, over its API with a key or from the files that were added, into a file and a report. The key is not kept.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    moveInId: IdText,
    key: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'read-only; it is not kept' })),
    baseUrl: Type.Optional(Type.String({ maxLength: 2_000, description: 'where it is not the usual address' })),
  }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or was read already',
  example: { key: 'u+read-only', baseUrl: 'https://api.eu.pagerduty.com' },
  async handle({ moveInId, key, baseUrl }, context) {
    const { caller, stores, now, record, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (move.hasFile) throw new AppError('conflict', 'this move was read already; begin another one');
    if (key === undefined && (await stores.moveIns.countKept(move.id)) === 0)
      throw new AppError('conflict', 'add files, or give a key');
    if (key !== undefined) {
      const asked = ASKED_TOOLS[move.tool];
      if (asked === undefined) throw new AppError('invalid_input', 'this tool is read from files only');
      keyOf(key, 'the field for the key');
      addressOf(baseUrl ?? asked.baseUrl, 'the address');
    }
    const begun = { status: 'reading', progress: 'Reading has begun.', fault: null } as const;
    await stores.moveIns.save(move.id, { ...begun, updatedAt: now });
    record({ target: move.id, before: null, after: { read: key === undefined ? 'files' : 'with a key' } });
    moveIns.read(workOf(move, context), key === undefined ? null : { key, baseUrl: baseUrl ?? null });
    return { moveInId: move.id };
  },
});

const planMoveIn = defineOperation({
  name: 'plan_move_in',
  summary: 'Plan anew what a move would change here, since something may have changed. Nothing else is changed.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ moveInId: IdText }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or was not read yet',
  async handle({ moveInId }, context) {
    const { caller, stores, now, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (!move.hasFile) throw new AppError('conflict', 'nothing was read yet');
    await stores.moveIns.save(move.id, { plan: null, fault: null, updatedAt: now });
    moveIns.plan(workOf(move, context));
    return { moveInId: move.id };
  },
});

const applyMoveIn = defineOperation({
  name: 'apply_move_in',
  stepUp: true,
  summary: 'Make the changes of the plan of a move, each by its ordinary operation. Nothing is deleted.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    moveInId: IdText,
    fingerprint: Type.String({ maxLength: 64, description: 'of the plan that was reviewed' }),
  }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or the plan is another one by now',
  example: { fingerprint: '5f2c7c1c9b4f4d8e8f0a1b2c3d4e5f60' },
  async handle({ moveInId, fingerprint }, context) {
    const { caller, stores, now, record, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (move.plan?.fingerprint !== fingerprint)
      throw new AppError('conflict', 'the plan is another one by now; review it again');
    const begun = { status: 'applying', progress: 'Applying has begun.', fault: null } as const;
    await stores.moveIns.save(move.id, { ...begun, updatedAt: now });
    record({ target: move.id, before: null, after: { applied: move.plan.changes } });
    moveIns.apply(workOf(move, context), fingerprint);
    return { moveInId: move.id };
  },
});

const stopMoveIn = defineOperation({
  name: 'stop_move_in',
  summary: 'Stop reading what another tool says. The next reading goes on where this one stopped.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ moveInId: IdText }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is not being read',
  async handle({ moveInId }, { caller, stores, now, record, moveIns }) {
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    if (move.status !== 'reading') throw new AppError('conflict', 'this move is not being read');
    const fault = 'The reading was stopped. Begin again: it goes on where it stopped.';
    await stores.moveIns.save(move.id, { status: 'failed', progress: '', fault, updatedAt: now });
    record({ target: move.id, before: null, after: { stopped: true } });
    moveIns.stop(move.id);
    return { moveInId: move.id };
  },
});

const Count = Type.Integer();

const MoveInView = Type.Object({
  moveInId: IdText,
  tool: Type.String(),
  status: Type.Enum([...MOVE_IN_STATUSES]),
  progress: Type.String({ description: 'what is being done; empty when nothing is' }),
  fault: nullable(Type.String({ description: 'why the last step failed' })),
  createdAt: Timestamp,
  summary: nullable(
    Type.Object({
      read: Type.Record(Type.String(), Count),
      verdicts: Type.Record(Type.String(), Count),
      minutes: Count,
      equal: Type.Integer({ description: 'minutes at which the same people are on call' }),
      schedules: Count,
      different: Type.Array(
        Type.Object({
          schedule: Type.String(),
          against: Type.String(),
          minutes: Count,
          equal: Count,
          causes: Type.Array(Type.String()),
        }),
        { description: 'schedules some of whose minutes differ, worst first' },
      ),
    }),
  ),
  plan: nullable(
    Type.Object({
      fingerprint: Type.String(),
      changes: Count,
      byKind: Type.Record(Type.String(), Count),
      meaning: Type.Array(Type.String(), { description: 'what the changes mean for people' }),
    }),
  ),
  applied: Type.Integer({ description: 'changes that were made' }),
});

export const getMoveIn = defineOperation({
  name: 'get_move_in',
  summary: 'Tell how far the last move from another tool is, with its report and its plan.',
  permission: 'organization:manage',
  effect: 'read',
  result: Type.Object({ moveIn: nullable(MoveInView) }),
  async handle(_input, { caller, stores, now }) {
    const [last] = await stores.moveIns.list(caller.orgId);
    return { moveIn: last === undefined ? null : toView(last, now) };
  },
});

function toView(row: MoveInRow, now: Temporal.Instant): Static<typeof MoveInView> {
  const { id, tool, progress, createdAt, summary, plan, applied } = row;
  const view = { moveInId: id, tool, ...statusOf(row, now), progress, createdAt: toTimestamp(createdAt), applied };
  return structuredClone({ ...view, summary, plan }) as Static<typeof MoveInView>;
}

const SHOWN = 50;

export const listMoveInItems = defineOperation({
  name: 'list_move_in_items',
  summary: 'List what was read from another tool with what became of each, by verdict.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    moveInId: IdText,
    verdict: Type.Optional(Type.Enum([...VERDICTS])),
    after: Type.Optional(Type.Integer({ minimum: -1, description: 'position of the last item that is known' })),
  }),
  result: Type.Object({
    items: Type.Array(
      Type.Object({
        position: Type.Integer(),
        kind: Type.String(),
        id: Type.String({ description: 'id in the other tool' }),
        name: Type.String(),
        verdict: Type.Enum([...VERDICTS]),
        reason: Type.String(),
        todo: Type.String(),
        here: nullable(
          Type.Object({ kind: Type.String(), id: IdText }, { description: 'what it became, once it is applied' }),
        ),
      }),
    ),
    next: nullable(Type.Integer({ description: 'position to go on after' })),
  }),
  example: { verdict: 'refused', after: 49 },
  async handle({ moveInId, verdict, after = -1 }, { caller, stores }) {
    const move = await stores.moveIns.get(caller.orgId, moveInId);
    const rows = await stores.moveIns.listItems(move.id, { verdict: verdict ?? null, after, limit: SHOWN + 1 });
    const shown = rows.slice(0, SHOWN);
    const keyOf = ({ kind, itemId }: (typeof rows)[number]): string => keyOfItem(move.tool, kind, itemId);
    const marks = await stores.configuration.listByKeys(caller.orgId, shown.map(keyOf));
    const here = new Map(marks.map(({ key, kind, resourceId }) => [key, { kind, id: resourceId }]));
    const items = shown.map((row) => {
      const { position, kind, itemId, name, verdict: passed, reason, todo } = row;
      return { position, kind, id: itemId, name, verdict: passed, reason, todo, here: here.get(keyOf(row)) ?? null };
    });
    return { items, next: rows.length > SHOWN ? (items.at(-1)?.position ?? null) : null };
  },
});

const LENGTH = 500_000;

export const getMoveInText = defineOperation({
  name: 'get_move_in_text',
  summary:
    'Return the report of a move as Markdown, or its configuration file, in parts. Phone numbers are in the file.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    moveInId: IdText,
    what: Type.Enum(['markdown', 'file']),
    from: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000_000, description: 'character to begin at' })),
  }),
  result: Type.Object({
    text: Type.String(),
    next: nullable(Type.Integer({ description: 'character at which the next part begins' })),
  }),
  conflict: 'nothing was read yet',
  example: { what: 'markdown', from: 0 },
  async handle({ moveInId, what, from = 0 }, { caller, stores }) {
    const move = await stores.moveIns.get(caller.orgId, moveInId);
    const text = await stores.moveIns.readText(move.id, what, { from, length: LENGTH });
    if (text === null) throw new AppError('conflict', 'nothing was read yet');
    // PostgreSQL counts a character outside the basic plane once.
    const length = text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, ' ').length;
    return { text, next: length < LENGTH ? null : from + length };
  },
});

/** Operations of the console on moves from other tools. */
export const MOVE_IN_OPERATIONS = [
  createMoveIn,
  addMoveInFile,
  readMoveIn,
  getMoveIn,
  listMoveInItems,
  getMoveInText,
  stopMoveIn,
  planMoveIn,
  applyMoveIn,
] as const;
