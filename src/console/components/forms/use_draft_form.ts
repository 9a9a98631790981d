import { useForm, type UseFormInput, type UseFormReturnType } from '@mantine/form';
import { useEffectEvent, useLayoutEffect } from 'react';

import { type Draft, type DraftOptions, useDraftOf, useStored } from '#console/components/forms/use_draft.ts';

/**
 * Keeps a form whose content survives a reload, the end of the session and an unavailable server. If somebody else
 * changes the same thing meanwhile, their changes are merged where they do not touch those of the person; the others
 * become `conflicts`.
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
