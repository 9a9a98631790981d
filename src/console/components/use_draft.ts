import { type UseFormInput, type UseFormReturnType, useForm } from '@mantine/form';
import { useEffectEvent, useLayoutEffect } from 'react';

import { type Draft, type DraftOptions, useDraftOf, useStored } from '#console/components/use_draft_state.ts';

/**
 * A form whose content survives a reload, the end of the session and a server that is away. When somebody else changes
 * the same thing meanwhile, their changes are taken over where they do not touch those of the person; the others become
 * `conflicts`.
 */
export function useDraftForm<Values extends object>({
  form: name,
  base,
  secrets,
  ...options
}: DraftOptions<Values> & Omit<UseFormInput<Values>, 'initialValues' | 'mode'>): {
  readonly form: UseFormReturnType<Values>;
  readonly draft: Draft<Values>;
} {
  const stored = useStored({ form: name, base });
  const form = useForm<Values>({ ...options, initialValues: stored.values });
  const draft = useDraftOf({
    stored,
    base,
    secrets,
    values: form.values,
    setValues: (values) => form.setValues(values),
  });
  const { startedFrom } = draft;
  // `reset` and `isDirty` compare with what is stored on the server, not with the draft.
  const setBase = useEffectEvent((values: Values) => form.resetDirty(values));
  useLayoutEffect(() => setBase(startedFrom), [startedFrom]);
  return { form, draft };
}
