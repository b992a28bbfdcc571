"""Files that other programs write are read like the same table in memory, or refused with what to do."""

from __future__ import annotations

import builtins
import zipfile

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from discreet.data.draft import draft_yaml
from discreet.data.load import load, open_source
from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import MisfitError, TableError

ROWS = 60


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m", ""], ROWS), "stage": rng.choice([1.0, 2.0, np.nan], ROWS)})
    frame["weight"] = rng.normal(80, 10, ROWS)
    return frame


@pytest.fixture(scope="module")
def domain():
    columns = {
        "sex": Categorical(categories=("f", "m"), missing="unknown"),
        "stage": Categorical(categories=("1", "2"), missing="unknown"),
        "weight": Numeric(bounds=(50, 110), bins=4),
    }
    return Domain(columns, rows=ROWS)


def write_sheets(path, *tables):
    """Write a workbook as spreadsheets do, as small as can be."""

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>' if value else "<c/>"
        return "<c/>" if np.isnan(value) else f"<c><v>{value!r}</v></c>"

    head = '<?xml version="1.0" encoding="UTF-8"?>'
    kinds = "http://schemas.openxmlformats.org"
    numbers = range(1, len(tables) + 1)
    with zipfile.ZipFile(path, "w") as file:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            for i in numbers
        )
        file.writestr(
            "[Content_Types].xml",
            f'{head}<Types xmlns="{kinds}/package/2006/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        links = f'{head}<Relationships xmlns="{kinds}/package/2006/relationships">'
        office = f"{kinds}/officeDocument/2006/relationships"
        first = f'<Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f"{links}{first}</Relationships>")
        sheets = "".join(
            f'<Relationship Id="rId{i}" Type="{office}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in numbers
        )
        file.writestr("xl/_rels/workbook.xml.rels", f"{links}{sheets}</Relationships>")
        named = "".join(f'<sheet name="s{i}" sheetId="{i}" r:id="rId{i}"/>' for i in numbers)
        main = f"{kinds}/spreadsheetml/2006/main"
        file.writestr(
            "xl/workbook.xml",
            f'{head}<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{named}</sheets></workbook>',
        )
        for i, table in zip(numbers, tables, strict=True):
            rows = [list(table.columns), *table.itertuples(index=False)]
            lines = "".join("<row>" + "".join(cell(v) for v in row) + "</row>" for row in rows)
            text = f'{head}<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>'
            file.writestr(f"xl/worksheets/sheet{i}.xml", text)


def written(folder, frame):
    """Yield files with the same table."""
    write_sheets(folder / "t.xlsx", frame)
    pyreadstat.write_dta(frame, str(folder / "t.dta"))
    pyreadstat.write_sav(frame, str(folder / "t.sav"))
    pyreadstat.write_xport(frame, str(folder / "t.xpt"))
    return [folder / f"t.{kind}" for kind in ("xlsx", "dta", "sav", "xpt")]


def test_all_files_are_read_alike(frame, domain, tmp_path):
    sets = [("sex",), ("stage", "weight")]
    expected = [counts.tolist() for counts in load(frame, domain).counts(sets)]
    for path in written(tmp_path, frame):
        assert [counts.tolist() for counts in load(path, domain).counts(sets)] == expected, path
        drafted = Domain.from_yaml(draft_yaml(open_source(str(path))))
        assert drafted["stage"].categories == ("1", "2")
        assert drafted["sex"].levels == ("f", "m", "missing")


def test_a_workbook_with_several_sheets_is_asked_which(frame, domain, tmp_path):
    write_sheets(tmp_path / "t.xlsx", frame.iloc[:3], frame)
    with pytest.raises(TableError, match="say which sheet"):
        load(tmp_path / "t.xlsx", domain)
    with pytest.raises(TableError, match="no such sheet"):
        load(f"{tmp_path / 't.xlsx'}?table=s9", domain)
    assert load(f"{tmp_path / 't.xlsx'}?table=s2", domain).rows == ROWS
    with pytest.raises(MisfitError, match="rows"):
        load(f"{tmp_path / 't.xlsx'}?table=s1", domain)


def test_broken_files_and_sheets_without_names_are_refused(frame, domain, tmp_path):
    for kind in ("xlsx", "dta", "sav", "sas7bdat"):
        (tmp_path / f"t.{kind}").write_bytes(b"SECRET-4711 is no such file")
        with pytest.raises(TableError, match=f"'t.{kind}'") as refused:
            load(tmp_path / f"t.{kind}", domain)
        assert "SECRET" not in str(refused.value)
    write_sheets(tmp_path / "t.xlsx", frame.rename(columns={"sex": ""}))
    with pytest.raises(TableError, match="the names of the columns"):
        load(tmp_path / "t.xlsx", domain)


def test_without_the_extra_it_is_told_what_to_install(frame, domain, tmp_path, monkeypatch):
    files, plain = written(tmp_path, frame), builtins.__import__

    def none(name, *args, **kwargs):
        if name in ("pyreadstat", "python_calamine"):
            raise ImportError(name)
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", none)
    for path in files:
        with pytest.raises(TableError, match=r"discreet\[files\]"):
            load(path, domain)


def test_text_in_another_encoding_is_refused_with_the_command_that_converts_it(domain, tmp_path):
    for text in ("sex,stage\nf,1\nm\xe4nnlich,2\n", "gr\xf6\xdfe,sex\n1,f\n"):
        (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
        with pytest.raises(TableError, match=r"iconv -f latin1 -t utf-8 t\.csv"):
            load(tmp_path / "t.csv", domain)
