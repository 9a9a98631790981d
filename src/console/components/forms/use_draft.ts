import { useEffect, useEffectEvent, useState } from 'react';

import {
  draftKey,
  isStorable,
  readDraft,
  removeDraft,
  type StoredDraft,
  writeDraft,
} from '#console/components/forms/draft_store.ts';
import { type Conflict, fittingValues, isSame, mergeChanges } from '#console/components/forms/merge_changes.ts';
import { showSuccess, showUndoable } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** State of a person's unsent changes. `DraftNotice` shows it. */
export interface Draft<Values> {
  /** Time when the person entered the values that the form began with; null if it began with the stored data. */
  readonly restoredAt: number | null;
  readonly isChanged: boolean;
  /** Whether this browser keeps the input: not if it is a secret or too long. */
  readonly isStored: boolean;
  /** Fields that somebody else has changed, too. Sending now would overwrite their change. */
  readonly conflicts: readonly Conflict<Values>[];
  /** Ends the draft. Call it when the server has accepted the form. */
  readonly done: () => void;
  readonly discard: () => void;
  /** Discards the input, and offers it again for 10 s. */
  readonly startOver: () => void;
  readonly keepMine: (field: keyof Values & string) => void;
  readonly takeTheirs: (field: keyof Values & string) => void;
}

export interface DraftOptions<Values> {
  /** Name of the form and what it changes, such as `update_service service_01…`. */
  readonly form: string;
  /** Values stored on the server, or the empty form. They may change while the form is open. */
  readonly base: Values;
  /** Fields that are never stored in the browser. */
  readonly secrets?: readonly (keyof Values & string)[];
}

/**
 * Keeps a draft like `useDraftForm`, for an editor with its own state: a page that is opened at night does not load the
 * forms package.
 */
export function useDraftState<Values extends object>(
  options: DraftOptions<Values>,
): readonly [values: Values, setValues: (values: Values) => void, draft: Draft<Values>] {
  const stored = useStored(options);
  const [values, setValues] = useState(stored.values);
  const draft = useDraftOf({ stored, base: options.base, secrets: options.secrets, values, setValues });
  return [values, setValues, draft];
}

interface Stored<Values> {
  readonly key: string;
  readonly saved: StoredDraft | null;
  readonly values: Values;
  readonly base: Values;
}

/** Returns the draft of this form in this browser, read once. */
export function useStored<Values extends object>({ form, base }: DraftOptions<Values>): Stored<Values> {
  const { org, session } = useOrganization();
  const key = draftKey(session.user.userId, org.orgId, form);
  const [stored] = useState(() => {
    const draft = readDraft(key);
    if (draft === null) return { saved: draft, values: base, base };
    return {
      saved: draft,
      values: { ...base, ...fittingValues(base, draft.values) },
      base: { ...base, ...fittingValues(base, draft.base) },
    };
  });
  return { ...stored, key };
}

interface DraftState<Values> {
  readonly stored: Stored<Values>;
  readonly base: Values;
  readonly secrets: readonly (keyof Values & string)[] | undefined;
  readonly values: Values;
  readonly setValues: (values: Values) => void;
}

export function useDraftOf<Values extends object>({
  stored,
  base,
  secrets = [],
  values,
  setValues,
}: DraftState<Values>) {
  const { key, saved } = stored;
  const [startedFrom, setStartedFrom] = useState(stored.base);
  const [isRestored, setIsRestored] = useState(saved !== null && !isSame(stored.values, base));
  // Data of the server before it accepted the form, until the new data has arrived.
  const [outdated, setOutdated] = useState<Values | null>(null);
  const merged = mergeChanges(startedFrom, values, isSame(base, outdated) ? startedFrom : base);

  const adopt = useEffectEvent(() => {
    if (!isSame(merged.values, values)) setValues(merged.values);
    setStartedFrom(merged.base);
    setOutdated(null);
  });
  const hasNews = !isSame(merged.base, startedFrom);
  useEffect(() => {
    if (hasNews) adopt();
  }, [hasNews]);

  const save = useEffectEvent(() => {
    if (isSame(values, startedFrom)) return removeDraft(key);
    const kept = (all: Values) => without(all, secrets);
    if (isSame(kept(values), kept(startedFrom))) return removeDraft(key);
    writeDraft(key, { at: Date.now(), base: kept(startedFrom), values: kept(values) });
  });
  /** Offers what was entered again: nobody loses it by one press. */
  const offerToRestore = (): void => {
    const kept = (all: Values) => without(all, secrets);
    const dropped = { base: kept(startedFrom), values: kept(values) };
    if (isSame(dropped.values, dropped.base)) return;
    showUndoable('What you entered is dropped.', () => {
      writeDraft(key, { at: Date.now(), ...dropped });
      // A form that is open shows it at once, any other when it is opened again.
      setStartedFrom(startedFrom);
      setValues(values);
      showSuccess('What you entered is back in its form.');
    });
  };
  const content = JSON.stringify([values, startedFrom]);
  useEffect(() => save(), [content]);
  const discard = (): void => {
    removeDraft(key);
    setValues(base);
    setStartedFrom(base);
    setIsRestored(false);
  };

  return {
    startedFrom,
    restoredAt: isRestored && saved !== null ? saved.at : null,
    isChanged: !isSame(values, startedFrom),
    isStored: isStorable(content) && secrets.every((field) => isSame(values[field], startedFrom[field])),
    conflicts: merged.conflicts,
    discard,
    done: () => {
      removeDraft(key);
      setStartedFrom(values);
      setOutdated(base);
      setIsRestored(false);
    },
    startOver: () => {
      offerToRestore();
      discard();
    },
    keepMine: (field: keyof Values & string) => setStartedFrom({ ...startedFrom, [field]: base[field] }),
    takeTheirs: (field: keyof Values & string) => {
      setStartedFrom({ ...startedFrom, [field]: base[field] });
      setValues({ ...values, [field]: base[field] });
    },
  };
}

function without(values: object, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([field]) => !fields.includes(field)));
}
