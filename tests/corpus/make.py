#!/usr/bin/env python3
"""Writes odd_packets.txt: odd queries, each with the outcomes that the rules allow.

    make.py            writes the file
    make.py --check    fails if the file is not what this program writes

What is accepted follows from the RFCs and docs/conformance.md alone, never from what the daemon happens to do.
The rows of docs/conformance.md begin each id. The text format is explained in the head of the file itself (HEAD below).
"""

import pathlib
import struct
import sys

FILE = pathlib.Path(__file__).resolve().parent / "odd_packets.txt"
HEAD = """\
# Odd packets and what may come of them; written by make.py, read by tests/integration/corpus.cpp.
#
# case ROW-NAME   odd: what is odd about it
# send      octets of the message in hex; XX*N is the octets XX, N times; a dot: no octets
# stream    instead: octets of a TCP connection as they are (no length is put in front); TCP only
# finish    the client then ends its side (FIN)
# udp, tcp  accepted outcomes: silent, close (TCP), FORMERR and other RCODEs, NOERROR, answer (NOERROR with records and
#           without TC), TC (no record but question and OPT), N answers (stream: so many, then the connection ends)
# question  octets of the question at offset 12: a reply has no question or exactly these; 0: a reply has none
# opt       of a reply: none, plain, do (DO is set), any
# limit     longest reply over UDP; 512 if not given
# has       octets that a reply holds
# keepalive over TCP the reply has edns-tcp-keepalive
"""

QR, AA, TC, RD, RA, Z, AD, CD = 0x8000, 0x0400, 0x0200, 0x0100, 0x0080, 0x0040, 0x0020, 0x0010
NAME = b"\3www\1x\7example\0"
FORMERR, NOTIMP, REFUSED, NOTAUTH = ["FORMERR"], ["NOTIMP"], ["REFUSED"], ["NOTAUTH"]
ANSWER, NOERROR, SILENT, CLOSE = ["answer"], ["NOERROR"], ["silent"], ["close"]
BROKEN = ["FORMERR", "silent"]

cases = []


def u16(value):
    return struct.pack("!H", value)


def name(*labels):
    return b"".join(bytes([len(l)]) + l for l in labels) + b"\0"


def question(owner=NAME, qtype=1, qclass=1):
    return owner + u16(qtype) + u16(qclass)


def header(flags=RD, qd=1, an=0, ns=0, ar=0):
    """With an id of its own, in the order of the cases."""
    return struct.pack("!6H", 0x1000 + len(cases), flags, qd, an, ns, ar)


def record(owner=b"\0", rtype=1, rclass=1, ttl=0, rdata=b"", length=None):
    return owner + struct.pack("!HHIH", rtype, rclass, ttl, len(rdata) if length is None else length) + rdata


def opt(size=1232, version=0, flags=0, rdata=b"", owner=b"\0", rcode=0, length=None):
    return record(owner, 41, size, rcode << 24 | version << 16 | flags, rdata, length)


def option(code, data=b"", length=None):
    return u16(code) + u16(len(data) if length is None else length) + data


def clamp(size):
    return min(max(size, 512), 1232)


def case(name_, odd, send=None, accept=None, **more):
    """accept: outcomes on both transports; udp, tcp: on one. The question is echoed as sent."""
    assert all(c["id"] != name_ for c in cases), name_
    more.setdefault("udp", accept)
    more.setdefault("tcp", accept)
    more.setdefault("question", 0)
    more.setdefault("opt", "none")
    cases.append({"id": name_, "odd": odd, "send": send, **more})


def well_formed(name_, odd, accept, q=None, flags=RD, extra=b"", **more):
    """One question, whole; `extra`: the additional section of one OPT, if any."""
    q = question() if q is None else q
    case(name_, odd, header(flags, ar=1 if extra else 0) + q + extra, accept, question=len(q), **more)


def with_opt(name_, odd, accept, q=None, flags=RD, size=1232, **more):
    keys = {k: more.pop(k) for k in ("version", "rdata", "rcode") if k in more}
    z = more.pop("z", 0)
    well_formed(name_, odd, accept, q, flags, opt(size, flags=z, **keys), opt="do" if z & 0x8000 else "plain", limit=clamp(size), **more)


# ---- H: header and framing (RFC 1035 §4.1, RFC 9619, RFC 5625, RFC 8906) -------------------------------------------

def headers():
    whole = struct.pack("!6H", 0x0FFF, RD, 1, 0, 0, 0)
    for size in range(12):
        case(f"H1-length-{size}", f"{size} octets: no header", whole[:size], udp=SILENT, tcp=CLOSE)
    gone = {"udp": SILENT, "tcp": ["silent", "close"]}
    for opcode in range(16):
        case(f"H2-response-opcode-{opcode}", f"QR=1, opcode {opcode}", header(QR | RD | opcode << 11) + question(), **gone)
    case("H2-response-header-only", "QR=1 and nothing but a header", header(QR, qd=0), **gone)
    case("H2-response-formerr", "QR=1, FORMERR, no question", header(QR | RD | RA | 1, qd=0), **gone)
    case("H2-response-with-record", "a whole answer", header(QR | RD | RA, an=1) + question() + record(b"\xc0\x0c", 1, 1, 60, b"\xc0\0\2\1"), **gone)
    case("H2-response-cut", "QR=1, question cut short", header(QR) + question()[:7], **gone)
    case("H2-response-junk", "QR=1 and junk", header(0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF) + b"\xff" * 40, **gone)
    case("H2-response-trailing", "QR=1 with octets behind", header(QR | RD) + question() + b"tail", **gone)
    case("H2-response-opt", "QR=1 with OPT version 1", header(QR | RD, ar=1) + question() + opt(version=1), **gone)
    case("H2-response-large", "QR=1, 1200 octets", header(QR | RD) + question() + b"\0" * 1169, **gone)
    for count in (2, 3, 255):
        case(f"H3-qdcount-{count}", f"{count} questions, all there", header(qd=count) + question() * count, FORMERR)
    case("H3-qdcount-2-compressed", "the second question points to the first", header(qd=2) + question() + question(b"\xc0\x0c", 28), FORMERR)
    case("H3-qdcount-2-types", "A and AAAA of one name in one query", header(qd=2) + question() + question(qtype=28), FORMERR)
    case("H3-qdcount-2-opt", "two questions and an OPT", header(qd=2, ar=1) + question() * 2 + opt(), FORMERR, opt="plain")
    case("H3-qdcount-2-missing", "QDCOUNT 2, one question there", header(qd=2) + question(), BROKEN)
    case("H3-qdcount-65535", "QDCOUNT 65535, one question there", header(qd=65535) + question(), BROKEN)
    case("H4-qdcount-0", "no question, header only", header(qd=0), FORMERR)
    case("H4-qdcount-0-opt", "no question, an OPT", header(qd=0, ar=1) + opt(4096), FORMERR, opt="plain")
    case("H4-qdcount-0-cookie", "no question, a COOKIE", header(qd=0, ar=1) + opt(rdata=option(10, b"\1" * 8)), FORMERR, opt="plain")
    case("H4-qdcount-0-question", "QDCOUNT 0, but a question is there", header(qd=0) + question(), FORMERR)
    for count, at in (("ancount", "an"), ("nscount", "ns"), ("arcount", "ar")):
        for value in (1, 65535):
            case(f"H5-{count}-{value}-missing", f"{count.upper()} {value}, no record there", header(**{at: value}) + question(), BROKEN)
    case("H5-all-counts-65535", "every count 65535, nothing there", header(RD, 65535, 65535, 65535, 65535), BROKEN)
    for size in range(len(question())):
        case(f"H5-question-cut-{size}", f"{size} octets of a question", header() + question()[:size], BROKEN)
    tail = opt(rdata=option(65001, b"abc"))
    for size in range(1, len(tail)):
        case(f"H5-opt-cut-{size}", f"{size} octets of an OPT", header(ar=1) + question() + tail[:size], BROKEN, opt="any")
    case("H5-second-record-missing", "ARCOUNT 2, one OPT there", header(ar=2) + question() + opt(), BROKEN, opt="any")
    case("H5-record-rdlength", "RDLENGTH past the end", header(ar=1) + question() + record(NAME, 1, rdata=b"abcd", length=400), BROKEN)


def opcodes():
    words = {1: "IQUERY", 2: "STATUS", 3: "unassigned", 6: "DSO"}
    for opcode in (1, 2, 3, *range(6, 16)):
        row, flags, word = f"H6-opcode-{opcode}", opcode << 11, words.get(opcode, "unassigned")
        well_formed(row, f"opcode {opcode}, {word}", NOTIMP, flags=flags)
        with_opt(f"{row}-opt", f"opcode {opcode} with an OPT", NOTIMP, flags=flags | RD)
        case(f"{row}-header", f"opcode {opcode}, header only", header(flags, qd=0), NOTIMP)
    case("H6-opcode-6-keepalive", "a DSO keepalive TLV", header(6 << 11, qd=0) + bytes.fromhex("00010008000075300000ea60"), ["NOTIMP", "FORMERR"])
    case("H6-opcode-15-cut", "opcode 15, question cut short", header(15 << 11) + question()[:5], ["NOTIMP", "FORMERR", "silent"])
    soa = record(NAME, 6, 1, 0, name(b"a") + name(b"b") + b"\0" * 20)
    well_formed("H7-notify", "NOTIFY of a SOA", ["NOTIMP", "REFUSED"], question(qtype=6), 4 << 11 | AA)
    case("H7-notify-soa", "NOTIFY with the SOA in the answer section", header(4 << 11 | AA, an=1) + question(qtype=6) + soa, ["NOTIMP", "REFUSED"], question=len(question()))
    well_formed("H7-update-empty", "UPDATE with a zone only", ["NOTIMP", "REFUSED"], question(qtype=6), 5 << 11)
    case("H7-update-add", "UPDATE that adds a record", header(5 << 11, ns=1) + question(qtype=6) + record(NAME, 1, 1, 60, b"\x7f\0\0\1"), ["NOTIMP", "REFUSED"], question=len(question()))
    case("H7-update-prerequisite", "UPDATE with a prerequisite", header(5 << 11, an=1) + question(qtype=6) + record(NAME, 255, 255), ["NOTIMP", "REFUSED"], question=len(question()))


def flag_bits():
    bits = {"aa": AA, "ra": RA, "ad": AD, "z": Z, "aa-ra-ad-z": AA | RA | AD | Z}
    for word, flags in bits.items():
        well_formed(f"H8-{word}", f"{word.upper()} set in a query", ANSWER, flags=RD | flags)
        with_opt(f"H8-{word}-opt", f"{word.upper()} set, with an OPT", ANSWER, flags=RD | flags)
    well_formed("H9-cd", "CD set", ANSWER, flags=RD | CD)
    with_opt("H9-cd-do", "CD and DO set", ANSWER, flags=RD | CD, z=0x8000)
    well_formed("H10-rd-0", "RD clear", ["answer", "REFUSED"], flags=0)
    with_opt("H10-rd-0-opt", "RD clear, with an OPT", ["answer", "REFUSED"], flags=0)
    well_formed("H11-tc", "TC set in a query", ["answer", "FORMERR"], flags=RD | TC)
    for rcode in range(1, 16):
        well_formed(f"H11-rcode-{rcode}", f"RCODE {rcode} in a query", ["answer", "FORMERR"], flags=RD | rcode)
    with_opt("H11-extended-rcode", "an extended RCODE in the OPT of a query", ["answer", "FORMERR"], rcode=255)
    well_formed("H8-all-flags", "every flag but QR, RCODE 15", ["answer", "FORMERR"], flags=AA | TC | RD | RA | Z | AD | CD | 15)


def sections():
    n = len(question())
    excess = ["FORMERR", "answer"]
    for size in (1, 2, 12, 400):
        case(f"H12-trailing-{size}", f"{size} octets behind the question", header() + question() + b"\xaa" * size, excess, question=n)
        case(f"H12-trailing-{size}-opt", f"{size} octets behind the OPT", header(ar=1) + question() + opt() + b"\xaa" * size, excess, question=n, opt="plain", limit=1232)
    case("H12-trailing-query", "a second query behind the first", header() + question() + header() + question(), excess, question=n)
    case("H12-trailing-opt", "an OPT that ARCOUNT does not count", header() + question() + opt(), excess, question=n)
    a = record(NAME, 1, 1, 60, b"\xc0\0\2\1")
    case("H13-answer", "a record in the answer section", header(an=1) + question() + a, excess, question=n)
    case("H13-answer-pointer", "the same, its name a pointer", header(an=1) + question() + record(b"\xc0\x0c", 1, 1, 60, b"\xc0\0\2\1"), excess, question=n)
    case("H13-authority", "a record in the authority section", header(ns=1) + question() + a, excess, question=n)
    case("H13-all-sections", "a record in each section", header(an=1, ns=1, ar=1) + question() + a * 3, excess, question=n)
    case("H13-additional", "a record that is no OPT in the additional section", header(ar=1) + question() + a, excess, question=n)
    case("H13-30-answers", "30 records in the answer section", header(an=30) + question() + a * 30, excess, question=n)
    case("H13-record-loop", "a record whose name points to itself", header(an=1) + question() + record(b"\xc0\x1f", 1, 1), BROKEN)
    for value in (0, 0xFFFF):
        q = question(name(b"id", b"x", b"example"))
        case(f"H14-id-{value}", f"id {value}", u16(value) + header()[2:] + q, ANSWER, question=len(q))


# ---- N: names (RFC 1035 §2.3.4, §4.1.4, RFC 2181 §11, RFC 4343) ----------------------------------------------------

def long_name(total):
    """A name of exactly so many octets, in labels of up to 63."""
    labels, left = [], total - 1
    while left:
        size = min(63, left - 1) if left - min(63, left - 1) - 1 != 1 else min(63, left - 1) - 1
        labels.append(b"n" * size)
        left -= size + 1
    return name(*labels)


def names():
    for word, q in (("label-63", name(b"l" * 63, b"example")), ("labels-127", name(*[b"a"] * 127)), ("name-255", long_name(255)),
                    ("name-254", long_name(254)), ("label-1", name(b"a")), ("labels-63-3", name(b"l" * 63, b"m" * 63, b"n" * 63))):
        well_formed(f"N1-{word}", f"{len(q)} octets of name", ANSWER, question(q))
        with_opt(f"N1-{word}-opt", f"{len(q)} octets of name, with an OPT", ANSWER, question(q), z=0x8000)
    for word, q in (("name-256", long_name(256)), ("name-257", long_name(257)), ("labels-128", name(*[b"a"] * 128)), ("labels-200", name(*[b"a"] * 200)),
                    ("labels-63-4", name(*[b"l" * 63] * 4)), ("labels-63-100", name(*[b"l" * 63] * 100))):
        case(f"N2-{word}", f"{len(q)} octets of name", header() + question(q), BROKEN)
    big = question(name(*[b"l" * 63] * 320))
    case("N2-labels-20kB", "20 kB of labels", header() + big, udp=BROKEN, tcp=BROKEN)
    case("N2-labels-64kB", "a message full of labels, no end", header() + b"\1a" * 32761, udp=None, tcp=BROKEN)
    for first in (0x40, 0x41, 0x42, 0x7F, 0x80, 0x81, 0xBF):
        case(f"N3-label-type-{first:02x}", f"label type {first >> 6:02b}", header() + bytes([first]) + b"a" * 63 + question(), FORMERR)
        case(f"N3-second-label-{first:02x}", f"second label of type {first >> 6:02b}", header() + b"\3www" + bytes([first]) + b"a" * 63 + question(), FORMERR)
    rest = b"\0\1\0\1"
    for word, odd, q in (("self", "to itself", b"\xc0\x0c" + rest), ("forward", "forward", b"\xc0\x12" + rest + b"\3www\0"),
                         ("header", "into the header", b"\xc0\x02" + rest), ("header-0", "to the id", b"\xc0\x00" + rest),
                         ("header-11", "to the last octet of the header", b"\xc0\x0b" + rest), ("past-end", "past the end", b"\xc0\xff" + rest),
                         ("far-past-end", "to offset 16383", b"\xff\xff" + rest), ("half", "half of it missing", b"\xc0"),
                         ("loop-2", "a loop of two names", b"\1a\xc0\x10\1b\xc0\x0c" + rest), ("label-loop", "back to its own first label", b"\3www\xc0\x0c" + rest),
                         ("mid-label", "into its own label", b"\3www\xc0\x0d" + rest), ("own-type", "to its own type field", b"\3www\xc0\x12" + rest),
                         ("chain", "60 pointers, each to the next", b"".join(u16(0xC000 | 12 + 2 * i) for i in range(1, 60)) + b"\0" + rest),
                         ("end", "to the octet behind the message", b"\xc0\x12" + rest)):
        case(f"N4-pointer-{word}", f"a pointer in the question: {odd}", header() + q, BROKEN)
    case("N4-record-pointer-self", "a record's name points to itself", header(ar=1) + question() + record(b"\xc0\x1f", 1), BROKEN)
    case("N4-record-pointer-forward", "a record's name points forward", header(ar=1) + question() + record(b"\xc0\x30", 1, 1, 0, b"\3www\0"), BROKEN)
    odd_labels = {"nul": b"a\0b", "dot": b"a.b", "backslash": b"a\\b", "crlf": b"a\r\nb", "esc": b"a\x1b[31mb", "percent": b"%n%s%n", "utf8": "grün".encode(),
                  "ff": b"\xff\xff", "space": b" ", "quote": b"a\"b'c", "at": b"a@b", "underscore": b"_dns", "asterisk": b"*", "semicolon": b"a;b", "minus": b"-",
                  "dollar": b"$(id)", "tab": b"a\tb", "del": b"a\x7fb", "c0-octet": b"\xc0\x0c", "all-32": bytes(range(32)), "high-32": bytes(range(224, 256)),
                  "bidi": "a\u202eb".encode(), "overlong": b"\xc0\xaf", "surrogate": b"\xed\xa0\x80", "slash": b"../../x", "html": b"<b>", "zero-length-look": b"\x00\x00"}
    for word, label in odd_labels.items():
        well_formed(f"N5-{word}", f"label {label!r}", ANSWER, question(name(label, b"x", b"example")))
    for word, q in (("upper", name(b"WWW", b"X", b"EXAMPLE")), ("mixed", name(b"wWw", b"x", b"ExAmPlE")), ("one", name(b"www", b"x", b"exampl\x45")),
                    ("beside-letters", name(b"@[`{", b"x", b"example")), ("high", name(b"\xc4\xe4", b"X", b"eXample"))):
        well_formed(f"N6-{word}", "letters of mixed case come back as they were", ANSWER, question(q))
    for word, qtype, accept in (("ns", 2, ANSWER), ("a", 1, ANSWER), ("soa", 6, NOERROR), ("dnskey", 48, NOERROR)):
        well_formed(f"N7-root-{word}", "the root", accept, question(b"\0", qtype))
        with_opt(f"N7-root-{word}-do", "the root, with DO", accept, question(b"\0", qtype), z=0x8000)


# ---- T: types and classes (RFC 3597, RFC 6895 §3.1, RFC 5936, RFC 8945, RFC 9619) ----------------------------------

def types():
    untouched = bytes.fromhex("c00cc0ff")  # RDATA that looks like pointers
    for qtype in (65280, 65281, 65534):
        well_formed(f"T1-type-{qtype}", "a private type", ANSWER, question(qtype=qtype), has=untouched)
    for word, qtype, accept in (("svcb", 64, ANSWER), ("https", 65, ANSWER), ("caa", 257, ANSWER), ("txt", 16, ANSWER), ("ptr", 12, ANSWER), ("mx", 15, ANSWER),
                                ("resinfo", 261, NOERROR), ("null", 10, NOERROR), ("tlsa", 52, NOERROR), ("loc", 29, NOERROR), ("naptr", 35, NOERROR), ("srv", 33, NOERROR),
                                ("dname", 39, NOERROR), ("rrsig", 46, NOERROR), ("nsec3", 50, NOERROR), ("openpgpkey", 61, NOERROR), ("zonemd", 63, NOERROR), ("uri", 256, NOERROR),
                                ("dlv", 32769, NOERROR), ("unassigned-1000", 1000, NOERROR), ("unassigned-32768", 32768, NOERROR), ("a6", 38, NOERROR), ("md", 3, NOERROR)):
        well_formed(f"T1-{word}", f"type {qtype}", accept, question(qtype=qtype))
    well_formed("T2-any", "type ANY", NOERROR, question(qtype=255))
    with_opt("T2-any-opt", "type ANY, with an OPT", NOERROR, question(qtype=255))
    well_formed("T3-axfr", "a zone transfer", ["REFUSED", "NOTIMP"], question(qtype=252))
    with_opt("T3-axfr-opt", "a zone transfer, with an OPT", ["REFUSED", "NOTIMP"], question(qtype=252))
    well_formed("T3-ixfr", "an incremental transfer without its SOA", ["REFUSED", "NOTIMP", "FORMERR"], question(qtype=251))
    soa = record(b"\xc0\x0c", 6, 1, 0, name(b"a") + name(b"b") + b"\0" * 20)
    case("T3-ixfr-soa", "an incremental transfer", header(ns=1) + question(qtype=251) + soa, ["REFUSED", "NOTIMP"], question=len(question()))
    never = ["FORMERR", "NOTIMP", "REFUSED"]
    for qtype in (0, 41, 128, 129, 130, 200, 248, 249, 250, 253, 254):
        well_formed(f"T4-type-{qtype}", "a meta type as a question", never, question(qtype=qtype))
        with_opt(f"T4-type-{qtype}-opt", "a meta type as a question, with an OPT", never, question(qtype=qtype))
    bind = name(b"version", b"bind")
    well_formed("T5-ch-version-bind", "class CH: which version?", REFUSED, question(bind, 16, 3))
    well_formed("T5-ch-version-server", "class CH: which version?", REFUSED, question(name(b"version", b"server"), 16, 3))
    with_opt("T5-ch-id-server", "class CH: which server?", REFUSED, question(name(b"id", b"server"), 16, 3))
    well_formed("T5-ch-hostname-bind", "class CH: which host?", REFUSED, question(name(b"hostname", b"bind"), 16, 3))
    for word, qclass in (("0", 0), ("cs", 2), ("hs", 4), ("none", 254), ("any", 255), ("5", 5), ("256", 256), ("32769", 32769), ("65535", 65535)):
        well_formed(f"T5-class-{word}", f"class {qclass}", ["REFUSED", "NOTIMP"], question(qclass=qclass))
        with_opt(f"T5-class-{word}-opt", f"class {qclass}, with an OPT", ["REFUSED", "NOTIMP"], question(qclass=qclass))


def signatures():
    n = len(question())
    mac = name(b"hmac-sha256") + b"\0" * 6 + u16(300) + u16(32) + b"m" * 32 + b"\0\1\0\0\0\0"
    tsig = record(name(b"key"), 250, 255, 0, mac)
    sig0 = record(b"\0", 24, 255, 0, b"\0\0\5\0" + b"\0" * 14 + name(b"key") + b"s" * 64)
    signed = ["NOTAUTH", "NOTIMP"]
    case("T6-tsig", "a TSIG", header(ar=1) + question() + tsig, signed, question=n)
    case("T6-opt-tsig", "an OPT, then a TSIG", header(ar=2) + question() + opt() + tsig, signed, question=n, opt="plain")
    case("T6-tsig-first", "a TSIG that is not last", header(ar=2) + question() + tsig + opt(), FORMERR, question=n, opt="plain")
    case("T6-tsig-twice", "two TSIGs", header(ar=2) + question() + tsig * 2, FORMERR, question=n)
    case("T6-tsig-answer", "a TSIG in the answer section", header(an=1) + question() + tsig, FORMERR, question=n)
    case("T6-tsig-empty", "a TSIG without RDATA", header(ar=1) + question() + record(name(b"key"), 250, 255), ["FORMERR", "NOTAUTH", "NOTIMP"], question=n)
    case("T6-sig0", "a SIG(0)", header(ar=1) + question() + sig0, signed, question=n)
    case("T6-opt-sig0", "an OPT, then a SIG(0)", header(ar=2) + question() + opt() + sig0, signed, question=n, opt="plain")


# ---- E: EDNS (RFC 6891, RFC 7828, RFC 7830, RFC 7871, RFC 7873) ----------------------------------------------------

def edns():
    n = len(question())
    well_formed("E1-no-opt", "no OPT in, none out", ANSWER)
    with_opt("E2-opt", "a plain OPT", ANSWER)
    with_opt("E2-do", "DO", ANSWER, z=0x8000)
    with_opt("E2-z", "every Z bit of the OPT but DO", ANSWER, z=0x7FFF)
    with_opt("E2-do-z", "DO and every Z bit", ANSWER, z=0xFFFF)
    with_opt("E2-nxdomain", "an OPT also for a name that is not there", ["NXDOMAIN"], question(name(b"nx1", b"x", b"example")))
    with_opt("E2-localhost", "an OPT also for what is answered here", ANSWER, question(name(b"localhost")))
    for version in (1, 2, 127, 255):
        with_opt(f"E3-version-{version}", f"EDNS version {version}", ["BADVERS"], version=version)
    with_opt("E3-version-1-do", "EDNS version 1 and DO", ["BADVERS"], version=1, z=0x8000)
    with_opt("E3-version-1-options", "EDNS version 1 and options of another form", ["BADVERS"], version=1, rdata=b"\1\2\3")
    case("E4-two-opts", "two OPTs", header(ar=2) + question() + opt() * 2, FORMERR, question=n, opt="any")
    case("E4-two-opts-differ", "two OPTs, of version 0 and 1", header(ar=2) + question() + opt() + opt(version=1), FORMERR, question=n, opt="any")
    case("E4-owner-name", "an OPT that is not owned by the root", header(ar=1) + question() + opt(owner=NAME), FORMERR, question=n, opt="any")
    case("E4-owner-pointer", "an OPT whose owner is the question's name", header(ar=1) + question() + opt(owner=b"\xc0\x0c"), FORMERR, question=n, opt="any")
    case("E4-in-answer", "an OPT in the answer section", header(an=1) + question() + opt(), FORMERR, question=n, opt="any")
    case("E4-in-authority", "an OPT in the authority section", header(ns=1) + question() + opt(), FORMERR, question=n, opt="any")
    case("E4-rdlength-1", "RDLENGTH 1 of an OPT that ends the message", header(ar=1) + question() + opt(length=1), FORMERR, opt="any")
    case("E4-rdlength-65535", "RDLENGTH 65535 of an OPT that ends the message", header(ar=1) + question() + opt(length=65535), FORMERR, opt="any")
    case("E4-rdlength-short", "RDLENGTH shorter than the options", header(ar=1) + question() + opt(rdata=option(65001, b"abcd"), length=4), FORMERR, question=n, opt="any")
    for word, data in (("unknown-0", option(65001)), ("unknown-8", option(65001, b"12345678")), ("unknown-two", option(65001, b"1") + option(65002, b"2")), ("code-0", option(0, b"x")),
                       ("code-65535", option(65535)), ("nsid", option(3)), ("dau", option(5, b"\x08\x0d")), ("expire", option(9)), ("chain", option(13, b"\0")),
                       ("key-tag", option(14, b"\x4f\x66")), ("ede", option(15, b"\0\x16text")), ("zoneversion", option(19)), ("llq", option(1, b"\0" * 18)), ("report-channel", option(18, b"\0")),
                       ("100-empty", option(65001) * 100), ("100-full", option(65001, b"12345678") * 100), ("4kB", option(65001, b"o" * 4096))):
        with_opt(f"E5-{word}", "options that a forwarder does not know", ANSWER, rdata=data)
    with_opt("E5-options-60kB", "60 kB of options", None, rdata=option(65001, b"o" * 60000), udp=None, tcp=ANSWER)
    for size in (1, 2, 3):
        with_opt(f"E6-stray-{size}", f"{size} stray octets as options", ["FORMERR", "answer"], rdata=b"\0" * size)
        with_opt(f"E6-stray-{size}-behind", f"{size} stray octets behind an option", ["FORMERR", "answer"], rdata=option(65001, b"x") + b"\xff" * size)
    for length in (1, 100, 65535):
        with_opt(f"E6-length-{length}", f"an option of length {length} without data", ["FORMERR", "answer"], rdata=option(65001, length=length))
    with_opt("E6-length-5-of-4", "an option's length one past the end", ["FORMERR", "answer"], rdata=option(65001, b"abcd", 5))
    big = question(name(b"size30000", b"x", b"example"), 16)
    for size in (0, 1, 100, 511, 512):
        with_opt(f"E7-size-{size}", f"UDP size {size}", ANSWER, size=size)
    for size in (0, 1, 511, 513, 1231, 1233, 1400, 4096, 65535):
        with_opt(f"E8-large-{size}", f"30 kB answer, UDP size {size}", None, big, size=size, udp=["TC"], tcp=ANSWER)
    with_opt("E8-size-65535", "UDP size 65535", ANSWER, size=65535)
    for size in (0, 1, 7, 8, 9, 15, 16, 40, 41, 64):
        with_opt(f"E9-cookie-{size}", f"a COOKIE of {size} octets; cookies are not implemented", ANSWER, rdata=option(10, b"c" * size))
    with_opt("E9-two-cookies", "two COOKIEs", ANSWER, rdata=option(10, b"c" * 8) * 2)


def hop_options():
    subnets = {"v4": "00011800c00002", "v6": "0002380020010db8000000", "zero": "00010000", "family-0": "00000000", "prefix-33": "00012100c000020100", "family-3": "00030800c0",
               "host-bits": "00011100c000ff", "scope": "00011818c00002", "short": "0001", "empty": "", "no-address": "00011800", "too-long": "00010800c0000201", "prefix-129": "00028100" + "20" * 17}
    for word, data in subnets.items():
        with_opt(f"E11-ecs-{word}", "a client subnet, which is stripped", ANSWER, rdata=option(8, bytes.fromhex(data)))
    with_opt("E11-ecs-twice", "two client subnets", ANSWER, rdata=option(8, bytes.fromhex(subnets["v4"])) * 2)
    with_opt("E13-keepalive", "edns-tcp-keepalive, asking: over UDP ignored", ANSWER, rdata=option(11), keepalive=True)
    with_opt("E12-keepalive-value", "edns-tcp-keepalive with a value", ["answer", "FORMERR"], rdata=option(11, b"\0\x64"))
    with_opt("E12-keepalive-1", "edns-tcp-keepalive of one octet", ["answer", "FORMERR"], rdata=option(11, b"\0"))
    for size in (0, 1, 100, 468, 1000):
        with_opt(f"E14-padding-{size}", f"padding of {size} octets", ANSWER, rdata=option(12, b"\0" * size))
    with_opt("E14-padding-not-zero", "padding that is not zero", ANSWER, rdata=option(12, b"\xff" * 64))
    with_opt("E14-padding-twice", "two paddings", ANSWER, rdata=option(12, b"\0" * 9) * 2)
    n = len(question())
    case("E14-padded-128", "a query padded to 128 octets", header(ar=1) + question() + opt(rdata=option(12, b"\0" * (128 - 12 - n - 15))), ANSWER, question=n, opt="plain", limit=1232)


# ---- U: sizes (RFC 1035 §4.2.1, RFC 2181 §9, RFC 6891 §6.2) --------------------------------------------------------

def sizes():
    whole = {"udp": ["TC"], "tcp": ANSWER}
    # The upstream's message is of that size with an OPT of 11 octets, which a client without OPT does not get.
    for size in (524, 600, 1232, 1243, 1500, 30000, 65535):
        q = question(name(b"size%d" % size, b"x", b"example"), 16)
        well_formed(f"U1-answer-{size - 11}", f"answer of {size - 11} octets, no OPT", None, q, **whole)
    for size in (522, 523):
        q = question(name(b"size%d" % size, b"x", b"example"), 16)
        well_formed(f"U1-answer-{size - 11}-fits", f"answer of {size - 11} octets, no OPT", ANSWER, q)
    for asked in (100, 1232):
        with_opt(f"U1-answer-30000-opt-{asked}", f"30 kB answer, UDP size {asked}", None, question(name(b"size30000", b"x", b"example"), 16), size=asked, **whole)
    for size in (1231, 1232):
        with_opt(f"U1-answer-{size}-opt", f"answer of {size} octets that fits", ANSWER, question(name(b"size%d" % size, b"x", b"example"), 16))
    with_opt("U1-answer-1233-opt", "answer that is one octet too long", None, question(name(b"size1233", b"x", b"example"), 16), **whole)
    with_opt("U1-answer-1100-opt-1000", "answer that fits us but not the client", None, question(name(b"size1100", b"x", b"example"), 16), size=1000, **whole)
    with_opt("U2-answer-65535-do", "the largest answer there is", None, question(name(b"size65535", b"x", b"example"), 16), z=0x8000, **whole)


# ---- C: TCP (RFC 7766) ---------------------------------------------------------------------------------------------

def frame(message):
    return u16(len(message)) + message


def stream(name_, odd, octets, accept, **more):
    case(name_, odd, None, udp=None, tcp=accept, stream=octets, **more)


def query(number, first=b"www"):
    return struct.pack("!6H", number, RD, 1, 0, 0, 0) + question(name(first, b"x", b"example"))


def tcp():
    for size in range(12):
        stream(f"C7-length-{size}", f"a frame of length {size}", frame(b"\0" * size), CLOSE)
    stream("C7-length-0-behind-query", "a query, then length 0", frame(query(1)) + b"\0\0", CLOSE)
    stream("C13-tls", "a TLS ClientHello's first octets", bytes.fromhex("1603010200010001fc0303") + b"\x5a" * 64, CLOSE, finish=True)
    stream("C13-http", "an HTTP request", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", CLOSE, finish=True)
    stream("C13-ssh", "an SSH banner", b"SSH-2.0-x\r\n", CLOSE, finish=True)
    stream("C13-ff", "octets 0xff", b"\xff" * 1000, CLOSE, finish=True)
    stream("C13-zeros", "octets 0", b"\0" * 1000, CLOSE)
    stream("C13-newlines", "empty lines", b"\r\n" * 1000, CLOSE, finish=True)
    stream("C6-finish", "FIN behind the query", frame(query(1)), ["1 answers"], finish=True)
    stream("C6-finish-two", "FIN behind two queries", frame(query(1)) + frame(query(2)), ["2 answers"], finish=True)
    stream("C6-finish-nothing", "FIN and not one octet", b"", CLOSE, finish=True)
    stream("C6-finish-half-prefix", "FIN behind half a length", b"\0", CLOSE, finish=True)
    stream("C6-finish-half-frame", "FIN in the middle of a query", frame(query(1))[:20], CLOSE, finish=True)
    stream("C6-finish-query-and-half", "a query, then FIN in the middle of another", frame(query(1)) + frame(query(2))[:20], ["1 answers"], finish=True)
    stream("C2-twenty", "20 queries in one segment", b"".join(frame(query(i, b"n%d" % i)) for i in range(20)), ["20 answers"], finish=True)
    stream("C2-same-id", "the same id, 5 questions", b"".join(frame(query(7, b"s%d" % i)) for i in range(5)), ["5 answers"], finish=True)
    stream("C2-same-query", "the same query 5 times", frame(query(7)) * 5, ["5 answers"], finish=True)
    stream("C2-response-between", "a QR=1 message between two queries", frame(query(1)) + frame(struct.pack("!6H", 3, QR, 0, 0, 0, 0)) + frame(query(2)), ["2 answers", "1 answers", "close"], finish=True)


# ---- the text ------------------------------------------------------------------------------------------------------

def repeats(data, at, period):
    unit = data[at:at + period]
    count = 1
    while len(unit) == period and data[at + count * period:at + (count + 1) * period] == unit:
        count += 1
    return count


def packed(data):
    """Hex, with what comes often written once."""
    words, plain, at = [], b"", 0
    while at < len(data):
        period, count = max(((p, repeats(data, at, p)) for p in (1, 2, 4, 12, 64)), key=lambda pc: pc[0] * (pc[1] - 1))
        if period * count >= 12 and count >= 3:
            words += [plain.hex()] if plain else []
            words.append(f"{data[at:at + period].hex()}*{count}")
            plain, at = b"", at + period * count
        else:
            plain, at = plain + data[at:at + 1], at + 1
    words += [plain.hex()] if plain else []
    return " ".join(words) or "."


def block(one):
    lines = [f"case {one['id']}", f"  odd {one['odd']}"]
    if one["send"] is not None:
        lines.append(f"  send {packed(one['send'])}")
    else:
        lines.append(f"  stream {packed(one['stream'])}")
    for transport in ("udp", "tcp"):
        if one[transport]:
            lines.append(f"  {transport} {' | '.join(one[transport])}")
    lines += [f"  question {one['question']}", f"  opt {one['opt']}"]
    lines += [f"  {key} {one[key]}" for key in ("limit",) if key in one]
    lines += [f"  has {one['has'].hex()}"] if "has" in one else []
    lines += [f"  {key}" for key in ("finish", "keepalive") if one.get(key)]
    return "\n".join(lines)


def main():
    for part in (headers, opcodes, flag_bits, sections, names, types, signatures, edns, hop_options, sizes, tcp):
        part()
    text = HEAD + "\n" + "\n\n".join(block(one) for one in cases) + "\n"
    if sys.argv[1:] == ["--check"]:
        return 0 if FILE.read_text(encoding="utf-8") == text else f"{FILE.name} is not what make.py writes; run it"
    FILE.write_text(text, encoding="utf-8")
    print(f"{len(cases)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
