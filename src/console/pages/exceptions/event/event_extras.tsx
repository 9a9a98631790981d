import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';

import { actionQuery, invoke } from '#console/api/actions.ts';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconDownload } from '#console/icons.ts';
import { saveFile } from '#console/pages/exceptions/save_file.ts';
import classes from '#console/pages/exceptions/event/event_extras.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

/** Feedback of users on the event, and its attachments. */
export function EventExtras({ groupId, eventId }: { readonly groupId: string; readonly eventId: string }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(actionQuery(orgId, 'exceptions', 'list_event_extras', { groupId, eventId }));
  const download = useMutation({
    mutationFn: async (attachmentId: string) => {
      const { name, content } = await invoke(orgId, 'read_event_attachment', { groupId, attachmentId });
      saveFile(name, content);
    },
  });
  if (data === undefined) return null;
  const { attachments, feedback } = data;
  return (
    <>
      {feedback.length > 0 && (
        <Card
          title="What users said"
          rows={feedback.map(({ name, email, comments, at }, index) => (
            <Row
              // People may say the same twice.
              // eslint-disable-next-line react/no-array-index-key
              key={index}
              title={
                <div dir="auto" className={classes.comments}>
                  {withoutBidiControls(comments)}
                </div>
              }
              sub={
                <>
                  <Name>{[name, email].filter((part) => part !== null).join(', ') || 'Someone'}</Name>,{' '}
                  <Timestamp at={at} />
                </>
              }
            />
          ))}
        />
      )}
      {attachments.length > 0 && (
        <Card
          title="Attachments"
          about="Files are kept as they were sent: they may hold secrets, and nobody has checked them."
          rows={attachments.map(({ attachmentId, name, contentType, bytes }) => (
            <Row
              key={attachmentId}
              title={<Name>{name}</Name>}
              sub={`${sizeText(bytes)}${contentType === null ? '' : `, ${contentType}`}`}
            >
              <Button
                size="xs"
                variant="default"
                leftSection={<IconDownload size={14} />}
                loading={download.isPending && download.variables === attachmentId}
                onClick={() => download.mutate(attachmentId)}
                aria-label={`Download ${name}`}
              >
                Download
              </Button>
            </Row>
          ))}
        />
      )}
      {download.error !== null && <ErrorAlert error={download.error} title="The file could not be loaded" />}
    </>
  );
}

function sizeText(bytes: number): string {
  return bytes < 1_024
    ? `${bytes} B`
    : bytes < 1_048_576
      ? `${Math.ceil(bytes / 1_024)} kB`
      : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
