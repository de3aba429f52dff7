/**
 * What a ChargeItem says as a transaction (https://hl7.org/fhir/R4/chargeitem.html): the id that its application gave it, and
 * what it comes to (docs/decisions/0196).
 */
import { type ChargeItem, type Decimal, type Money, practiceIdentifierSystems } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { type ExactDecimal, parseDecimal } from '../../search/kinds/decimal.ts';

/** Extension of a ChargeItem: the price of one unit, a Money, in place of that of the fee schedule. */
export const unitCostUrl = 'https://praxis.health/fhir/StructureDefinition/unit-cost';

/** Longest id of a transaction, in characters. */
const transactionLengthMax = 100;

/** The id that the application gave the transaction; undefined: none. */
export function findTransactionId(charge: ChargeItem | undefined): string | undefined {
  return transactionsOf(charge)[0];
}

/**
 * Passes when the charge has one id of a transaction at most, and its price says what its unit cost and quantity come to.
 * @throws PraxisError `rule-broken`
 */
export function requireTransaction(charge: ChargeItem): void {
  const [transaction = '', ...others] = transactionsOf(charge);
  if (others.length > 0)
    refuse(
      'identifier',
      `has ${others.length + 1} ids of the system ${practiceIdentifierSystems.transaction}: a charge is one transaction`,
    );
  if (transaction.length > transactionLengthMax)
    refuse('identifier', `has an id of a transaction that is longer than ${transactionLengthMax} characters`);
  const { priceOverride: price } = charge;
  const cost = unitCostOf(charge);
  if (price === undefined || cost === undefined) return;
  const amount = productOf(charge, cost);
  const priced = decimalOf(price.value);
  const isOtherCurrency = price.currency !== cost.currency;
  if (isOtherCurrency || (amount !== undefined && priced !== undefined && !isEqual(amount, priced)))
    refuse(
      'priceOverride',
      'differs from the unit cost × quantity: leave it out, or send what they come to, in the same currency',
    );
}

/**
 * What a charge tells those who do the billing, numbers as they were written: the first coding of its code, else its text;
 * as amount unit cost × quantity, else the price that overrides; undefined: that of the fee schedule.
 * @param charge valid
 */
export function chargeFacts(charge: ChargeItem) {
  const cost = unitCostOf(charge);
  const { status = '', subject, priceOverride: price, code, quantity } = charge;
  const amount = cost === undefined ? decimalOf(price?.value) : productOf(charge, cost);
  return {
    status,
    patient: subject.reference,
    code: code.coding?.[0]?.code ?? code.text,
    quantity: numberText(quantity?.value),
    unitCost: numberText(cost?.value),
    amount: amount && plainText(amount),
    currency: (cost ?? price)?.currency,
  };
}

function transactionsOf({ identifier = [] }: Pick<ChargeItem, 'identifier'> = {}): readonly string[] {
  return identifier
    .filter(({ system }) => system === practiceIdentifierSystems.transaction)
    .flatMap(({ value }) => value ?? []);
}

function unitCostOf({ extension }: ChargeItem): Money | undefined {
  return extension?.find(({ url }) => url === unitCostUrl)?.valueMoney;
}

/** Without a quantity it is one. */
function productOf({ quantity }: ChargeItem, cost: Money): ExactDecimal | undefined {
  const unit = decimalOf(cost.value);
  if (quantity === undefined) return unit;
  const times = decimalOf(quantity.value);
  if (unit === undefined || times === undefined) return undefined;
  return { digits: unit.digits * times.digits, exponent: unit.exponent + times.exponent, bareExponent: false };
}

function decimalOf(value: Decimal | undefined): ExactDecimal | undefined {
  const text = numberText(value);
  return text === undefined ? undefined : parseDecimal(text);
}

/** A number as it was written. */
function numberText(value: Decimal | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  const text = value === undefined ? undefined : JSON.stringify(value);
  return text !== undefined && /^[-+\d.eE]+$/.test(text) ? text : undefined;
}

function isEqual(one: ExactDecimal, other: ExactDecimal): boolean {
  const least = Math.min(one.exponent, other.exponent);
  const unscaled = ({ digits, exponent }: ExactDecimal): bigint => digits * 10n ** BigInt(exponent - least);
  return unscaled(one) === unscaled(other);
}

/** Without an exponent: 12.50. */
function plainText({ digits, exponent }: ExactDecimal): string {
  if (exponent >= 0) return String(digits * 10n ** BigInt(exponent));
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(1 - exponent, '0');
  return `${sign}${text.slice(0, exponent)}.${text.slice(exponent)}`;
}

function refuse(element: string, problem: string): never {
  return fail('rule-broken', {
    diagnostics: `ChargeItem.${element} ${problem}`,
    expression: [`ChargeItem.${element}`],
  });
}
