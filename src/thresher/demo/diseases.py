"""List the diseases of the made-up hospital: kind, number of patients, and their mean age.

Reads: nothing. Writes: nothing. Never: medical advice.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Disease:
    """Describe a disease by its kind, the number of its patients, and their mean age."""

    name: str
    type: str
    patients: int
    age: int


_VIRAL = """
    influenza 5210 71; covid-19 6130 69; shingles 2840 74; norovirus 1930 67; viral pneumonia 2260 73; west nile 180 66;
    viral hepatitis 940 44; mononucleosis 1120 19; mumps 310 11; measles 420 8; rubella 130 9; chickenpox 1640 6;
    bronchiolitis 2390 2; rsv 3120 3; roseola 1180 2; croup 1370 3; rotavirus 1010 3; hand-foot-mouth 1560 4;
    dengue 260 33; hiv 720 41; herpes simplex 1490 29; hpv 830 31; conjunctivitis 990 24; viral meningitis 350 16
"""
_BACTERIAL = """
    tuberculosis 480 52; cholera 60 37; pertussis 540 7; diphtheria 40 13; legionnaires 330 68; lyme 690 43;
    strep throat 2950 12; cellulitis 2140 58; sepsis 1830 70; urinary infection 4720 61; salmonella 1250 28;
    impetigo 880 5; scarlet fever 460 6; tetanus 30 55; typhoid 90 26; bacterial pneumonia 3340 68
"""
_CHRONIC = """
    asthma 5860 21; diabetes 6940 59; hypertension 7820 63; arthritis 4410 66; copd 3570 69; epilepsy 1740 32;
    migraine 2630 35; gout 1420 57; psoriasis 1190 42; crohn 870 34; anaemia 2080 48; eczema 1960 9
"""
_ACUTE = """
    appendicitis 1550 23; gallstones 1880 54; kidney stones 1710 46; hip fracture 2470 79; concussion 1340 18;
    burn 760 27; poisoning 690 22; stroke 3280 74
"""


def _read(kind: str, lines: str) -> list[Disease]:
    entries = (entry.rsplit(maxsplit=2) for entry in " ".join(lines.split()).split(";"))
    return [Disease(name.strip(), kind, int(patients), int(age)) for name, patients, age in entries]


DISEASES = (
    *_read("viral", _VIRAL),
    *_read("bacterial", _BACTERIAL),
    *_read("chronic", _CHRONIC),
    *_read("acute", _ACUTE),
)
