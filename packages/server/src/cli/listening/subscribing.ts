/** Subscriptions that are made for a time. */
import { StartError } from '../../base/start-error.ts';
import { backportExtensions } from '../../practice/subscriptions/names.ts';
import { findText } from '../../search/json-values.ts';
import { CallRefused, type ServiceCaller } from './service-caller.ts';

/** Subscribes to a topic by websocket; returns the id. @throws CallRefused */
export async function makeSubscription(service: ServiceCaller, topic: string, content: string): Promise<string> {
  const made = await service.call('POST', 'Subscription', {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'praxis listen',
    criteria: topic,
    channel: {
      type: 'websocket',
      payload: 'application/fhir+json',
      _payload: { extension: [{ url: backportExtensions.payloadContent, valueCode: content }] },
    },
  });
  return findText(made, 'id') ?? failWithoutId();
}

function failWithoutId(): never {
  throw new StartError('the service has not told the id of the subscription');
}

/** Removes them, or ends those that it may not remove. What fails is told. */
export async function removeSubscriptions(
  service: ServiceCaller,
  ids: readonly string[],
  tell: (line: string) => void,
): Promise<void> {
  for (const id of ids) {
    try {
      await remove(service, id);
    } catch (error) {
      tell(`Subscription/${id} is left: ${error instanceof Error ? error.message : 'it could not be removed'}`);
    }
  }
}

async function remove(service: ServiceCaller, id: string): Promise<void> {
  try {
    await service.call('DELETE', `Subscription/${id}`);
  } catch (error) {
    // Who may subscribe may not always delete, but may end.
    if (!(error instanceof CallRefused) || error.status !== 403) throw error;
    const subscription = await service.call('GET', `Subscription/${id}`);
    await service.call('PUT', `Subscription/${id}`, { ...subscription, status: 'off' });
  }
}
