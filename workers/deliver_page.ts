import { type DeliveryRuntime, sendNotification } from '#modules/incidents/paging/send_notification.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import { asId } from '#kernel/ids.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { runWhenDue } from '#workers/run_when_due.ts';

export const onDeliverPage = (runtime: DeliveryRuntime): JobHandler =>
  handleJob(deliverPage, async ({ notificationId }) => {
    await runWhenDue(runtime.clock, () => sendNotification(runtime, asId('notification', notificationId)));
  });
