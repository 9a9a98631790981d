import { asId } from '#kernel/ids.ts';
import { linkTo, PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import { areRoutes } from '#modules/places/decide/place_route.ts';
import { placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { storesOf } from '#modules/stores.ts';
import { placeOffMail } from '#notify/mail/account_mail_text.ts';
import { messageIdOf, sendMail } from '#notify/mail/send_mail.ts';
import { sendPlaceOff } from '#storage/queue/jobs.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import type { AccountMailRuntime } from '#workers/send_password_reset.ts';

export const onSendPlaceOff = (runtime: AccountMailRuntime): JobHandler =>
  handleJob(sendPlaceOff, async ({ placeId, userId }) => {
    const { mail, baseUrl, db } = runtime;
    const { places, people } = storesOf(db.session());
    const place = await places.find(placeId);
    if (mail === null || place === null || place.switchedOffAt === null) return;
    const owner = (await people.listPeople(place.orgId, [userId])).get(asId('user', userId));
    if (owner === undefined) return;
    const { name, kind, lastFailure } = place;
    const messageId = messageIdOf(`${placeId}.${place.switchedOffAt.epochMilliseconds}`, new URL(baseUrl).hostname);
    const text = placeOffMail({
      name,
      kind: placeDeclarationOf(kind).title,
      isUnreadable: !areRoutes(place.routes),
      lastFailure,
      link: linkTo(baseUrl, `${PAGES.settings}${SETTINGS_PAGES.places}`, place.orgId),
    });
    const delivery = await sendMail(mail, { to: owner.email, messageId, ...text, priority: 'normal' });
    if (delivery.kind === 'retry') throw new Error(`the mail could not be sent: ${delivery.reason}`);
  });
