"""Reads the frames of two runs of one scene with VTK itself and compares them number by number: one written as .vtp files, the other as .vtkhdf.

    drystone run SCENE --out one
    drystone run SCENE --set 'output.format="vtkhdf"' --out two
    pip install vtk numpy
    python docs/check_vtk.py one two
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path

from vtkmodules.util.numpy_support import vtk_to_numpy as numbers
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader


def arrays(data):
    return {data.GetArrayName(k): numbers(data.GetArray(k)) for k in range(data.GetNumberOfArrays())}


def cells(of):
    """Points of each cell, one after the other, and where they begin."""
    if of is None or of.GetNumberOfCells() == 0:
        return []
    return [tuple(int(of.GetCellSize(k)) for k in range(of.GetNumberOfCells())), tuple(numbers(of.GetConnectivityArray()).tolist())]


def whole(polydata):
    return [cells(polydata.GetVerts()), cells(polydata.GetLines()), cells(polydata.GetPolys())]


def compare(kind, one, two):
    series = vtkHDFReader()
    series.SetFileName(str(two / f"{kind}.vtkhdf"))
    series.UpdateInformation()
    frames = xml.parse(one / f"{kind}.pvd").getroot().iter("DataSet")
    frames = [(float(f.get("timestep")), f.get("file")) for f in frames]
    assert series.GetNumberOfSteps() == len(frames), f"{series.GetNumberOfSteps()} instants for {len(frames)} files"
    compared = 0
    for step, (time, name) in enumerate(frames):
        series.SetStep(step)
        series.Update()
        found = series.GetOutput()
        assert abs(series.GetTimeValue() - time) < 1e-12, (series.GetTimeValue(), time)
        reader = vtkXMLPolyDataReader()
        reader.SetFileName(str(one / name))
        reader.Update()
        expected = reader.GetOutput()
        # lines of branches have points of their own in a series
        if kind != "branches":
            if expected.GetNumberOfPoints() > 0:
                assert (numbers(found.GetPoints().GetData()) == numbers(expected.GetPoints().GetData())).all(), f"points of {name}"
            assert whole(found) == whole(expected), f"cells of {name}"
        for pair in [(found.GetPointData(), expected.GetPointData()), (found.GetCellData(), expected.GetCellData())]:
            there, wanted = map(arrays, pair)
            assert there.keys() >= wanted.keys(), f"{there.keys()} for {wanted.keys()} of {name}"
            for array, values in wanted.items():
                assert there[array].shape == values.shape and (there[array] == values).all(), f"{array} of {name}"
                compared += values.size
        compared += 3 * found.GetNumberOfPoints()
    print(f"{kind}: {len(frames)} instants, {compared} numbers alike")


if __name__ == "__main__":
    one, two = map(Path, sys.argv[1:3])
    kinds = [kind for kind in ("bodies", "contacts", "branches") if (one / f"{kind}.pvd").exists()]
    for kind in kinds:
        compare(kind, one, two)
