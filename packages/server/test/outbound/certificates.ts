/** X.509 certificates in DER (https://www.rfc-editor.org/rfc/rfc5280#section-4.1), so that tests need no program for them. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM, as a server and an authority give it. */
  readonly cert: string;
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface CertificateWish {
  /** The common name, and the only name of the host. */
  readonly name: string;
  /** Itself when absent. */
  readonly issuer?: Certificate;
  readonly isAuthority?: boolean;
  /** Days from now. */
  readonly fromDay?: number;
  readonly toDay?: number;
}

const dayMs = 86_400_000;

const lengthOf = (length: number): Buffer => {
  if (length < 128) return Buffer.from([length]);
  return length < 256 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >> 8, length & 255]);
};
const element = (tag: number, ...content: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(bytes.length), bytes]);
};
const sequence = (...content: readonly Buffer[]): Buffer => element(0x30, ...content);
const objectId = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));
const bitString = (bytes: Buffer): Buffer => element(0x03, Buffer.from([0]), bytes);
const generalizedTime = (ms: number): Buffer =>
  element(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`));

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
const nameOf = (commonName: string): Buffer =>
  sequence(element(0x31, sequence(objectId('550403'), element(0x0c, Buffer.from(commonName)))));
const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(objectId(id), ...(isCritical ? [element(0x01, Buffer.from([0xff]))] : []), element(0x04, value));

/** A certificate of a new key, valid today unless it is wished otherwise. @param nowMs the time of who verifies it */
export function makeCertificate(wish: CertificateWish, nowMs: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { name, issuer, isAuthority = false, fromDay = -1, toDay = 30 } = wish;
  const extensions = [
    extension('551d13', true, sequence(...(isAuthority ? [element(0x01, Buffer.from([0xff]))] : []))),
    extension('551d11', false, sequence(element(0x82, Buffer.from(name)))),
  ];
  const toBeSigned = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    nameOf(issuer?.name ?? name),
    sequence(generalizedTime(nowMs + fromDay * dayMs), generalizedTime(nowMs + toDay * dayMs)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, issuer?.privateKey ?? privateKey);
  const der = sequence(toBeSigned, ecdsaWithSha256, bitString(signature));
  const lines = der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    name,
    privateKey,
  };
}
