import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';
import { Card } from '#console/components/card.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftForm } from '#console/components/forms/use_draft.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { parseTraceLink, TRACE_ID, TRACE_LINK_LENGTH_MAX } from '#modules/metrics/decide/trace_link.ts';

/** Card of the address where the organization looks at traces, so that charts can link to them. */
export function TraceLinkCard() {
  const { org, isAdmin } = useOrganization();
  const queryClient = useQueryClient();
  const { form, draft } = useDraftForm({
    form: 'set_trace_link',
    base: { traceLink: org.traceLink ?? '' },
    validate: { traceLink: faultOf },
  });
  const setting = useMutation({
    mutationFn: ({ traceLink }: typeof form.values) =>
      invoke(org.orgId, 'set_trace_link', {
        traceLink: traceLink.trim() === '' ? null : traceLink.trim(),
        basedOn: org.traceLink,
      }),
    onError: async (error, values) => {
      form.setErrors(faultsAtFields(error, values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
    async onSuccess({ traceLink }) {
      showSuccess(traceLink === null ? 'Trace ids are no longer links.' : 'Trace ids are links now.');
      draft.done();
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Card title="Traces" about="Dots in charts are single observations. Their trace ids can lead to your tracing tool.">
      <Form error={setting.error} onSubmit={form.onSubmit((values) => setting.mutate(values))}>
        <Stack gap="sm">
          <DraftNotice draft={draft} labels={{ traceLink: 'Address of a trace' }} />
          <Group align="start">
            <TextInput
              {...form.getInputProps('traceLink')}
              label="Address of a trace"
              description={`${TRACE_ID} stands for the id. Empty: ids are only copied.`}
              placeholder={`https://traces.example.com/trace/${TRACE_ID}`}
              inputMode="url"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={TRACE_LINK_LENGTH_MAX}
              disabled={!isAdmin}
              flex="1 1 18rem"
            />
            {isAdmin && (
              <Button
                type="submit"
                variant="default"
                mt={{ base: 0, xs: 46 }}
                loading={setting.isPending}
                disabled={!form.isDirty() || draft.conflicts.length > 0}
              >
                Save
              </Button>
            )}
          </Group>
          {!isAdmin && <p className="dimmed">Only owners and admins can change it.</p>}
          {setting.isError && (
            <ErrorAlert title="The address was not saved" error={setting.error} atFields={form.values} />
          )}
        </Stack>
      </Form>
    </Card>
  );
}

function faultOf(text: string): string | null {
  if (text.trim() === '') return null;
  const parsed = parseTraceLink(text);
  const message = parsed.kind === 'faults' ? parsed.faults[0]?.message : undefined;
  return message === undefined ? null : `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}
