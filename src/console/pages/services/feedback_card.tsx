import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { feedbackQuery } from '#console/api/services.ts';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/exceptions/event/event_extras.module.css';
import { saveFile } from '#console/pages/exceptions/save_file.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Card of users' feedback, also about events that never arrived; nothing if there is none. */
export function FeedbackCard({ serviceId }: { readonly serviceId: string }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(feedbackQuery(orgId, serviceId));
  const download = useMutation({
    mutationFn: async (attachmentId: string) => {
      const { name, content } = await invoke(orgId, 'read_event_attachment', { serviceId, attachmentId });
      saveFile(name, content);
    },
  });
  if (data === undefined || data.feedback.length === 0) return null;
  const { feedback, total } = data;
  return (
    <>
      <Card
        title="User feedback"
        about={total > feedback.length ? `The newest ${feedback.length} of ${total.toLocaleString()}` : undefined}
        rows={feedback.map(({ eventId, name, email, comments, url, at, attachments }, index) => (
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
                {url !== null && (
                  <>
                    , on <Name>{url}</Name>
                  </>
                )}
                {eventId !== null && `, about event ${eventId}`}
              </>
            }
          >
            {attachments.map((file) => (
              <Button
                key={file.attachmentId}
                size="xs"
                variant="default"
                leftSection={<IconDownload size={14} />}
                loading={download.isPending && download.variables === file.attachmentId}
                onClick={() => download.mutate(file.attachmentId)}
                aria-label={`Download ${file.name}`}
              >
                <Name>{file.name}</Name>
              </Button>
            ))}
          </Row>
        ))}
      />
      {download.error !== null && <ErrorAlert error={download.error} title="The file could not be loaded" />}
    </>
  );
}
