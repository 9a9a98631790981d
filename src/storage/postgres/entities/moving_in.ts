import { p } from '@mikro-orm/postgresql';

import type { Verdict } from '#modules/moving_in/decide/ledger.ts';
import type { MoveInPlan, MoveInStatus, MoveInSummary } from '#modules/moving_in/decide/move_in_state.ts';
import { id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

/** Move from another tool that the console leads through. */
export const MoveInEntity = table('move_ins', {
  id: id<'movein'>().primary(),
  orgId: id<'org'>(),
  tool: p.text(),
  status: text<MoveInStatus>(),
  /** Sentence on what is being done; empty: nothing. */
  progress: p.text(),
  /** Reason why the last step failed. */
  fault: p.text().strictNullable(),
  proofFrom: instant().strictNullable(),
  /** Configuration file, once everything was read. */
  file: p.text().strictNullable(),
  /** Report to hand around. */
  markdown: p.text().strictNullable(),
  summary: jsonColumn<MoveInSummary>().strictNullable(),
  plan: jsonColumn<MoveInPlan>().strictNullable(),
  applied: p.integer(),
  createdBy: text<string>().strictNullable(),
  createdAt: instant(),
  /** Time of the last sign of the process that reads or applies. */
  updatedAt: instant(),
});

/** Object that was read from the other tool, with its verdict. */
export const MoveInItemEntity = table('move_in_items', {
  moveInId: id<'movein'>().primary(),
  position: p.integer().primary(),
  kind: p.text(),
  itemId: p.text(),
  name: p.text(),
  verdict: text<Verdict>(),
  reason: p.text(),
  todo: p.text(),
});

/** File that somebody uploaded, or answer of the tool, until everything is read. */
export const MoveInAnswerEntity = table('move_in_answers', {
  moveInId: id<'movein'>().primary(),
  name: p.text().primary(),
  part: p.integer().primary(),
  isUpload: p.boolean(),
  content: p.text(),
  /** Query of the next page of an answer. */
  next: p.text().strictNullable(),
});

/** Campaign that asks people to confirm their numbers. */
export const NumberCampaignEntity = table('number_campaigns', {
  orgId: id<'org'>().primary(),
  since: instant(),
  startedBy: text<string>().strictNullable(),
});

/** Number of times a person was asked, and the last of them. */
export const NumberAskEntity = table('number_asks', {
  orgId: id<'org'>().primary(),
  userId: id<'user'>().primary(),
  times: p.integer(),
  askedAt: instant(),
});
