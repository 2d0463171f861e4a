"""Puts the bodies of an instant together where the scene has `shapes = "once"` in [output]: surfaces with their transforms, as one file for ParaView.

    pip install vtk numpy
    python docs/shapes.py DIR TIME OUT.vtp

Balls stay points with `radius`.
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkFiltersCore import vtkAppendPolyData
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPolyDataWriter


def read(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def array(data, name):
    return vtk_to_numpy(data.GetPointData().GetArray(name))


def turned(q, x):
    """x turned by quaternions (w, x, y, z), row by row."""
    w, v = q[:, :1], q[:, 1:]
    t = 2 * np.cross(v, x)
    return x + w * t + np.cross(v, t)


def frame_at(directory, time):
    """The bodies of the instant that is nearest to this time, of a file an instant or of one for all of them."""
    if (directory / "bodies.vtkhdf").exists():
        reader = vtkHDFReader()
        reader.SetFileName(str(directory / "bodies.vtkhdf"))
        reader.UpdateInformation()
        times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
        reader.SetStep(min(range(len(times)), key=lambda k: abs(times[k] - time)))
        reader.Update()
        return reader.GetOutput()
    frames = [(float(f.get("timestep")), f.get("file")) for f in xml.parse(directory / "bodies.pvd").getroot().iter("DataSet")]
    return read(directory / min(frames, key=lambda f: abs(f[0] - time))[1])


def assemble(directory, time):
    frame = frame_at(directory, time)
    ids, places, turns = array(frame, "id"), vtk_to_numpy(frame.GetPoints().GetData()), array(frame, "orientation")
    row = {int(body): k for k, body in enumerate(ids)}
    whole = vtkAppendPolyData()
    whole.AddInputData(frame)
    for path in sorted(directory.glob("shapes_*.vtp")):
        shapes = read(path)
        rows = np.array([row.get(int(body), -1) for body in array(shapes, "id")])
        # what has left, or is not there yet, goes to a point
        corners = turned(turns[rows], vtk_to_numpy(shapes.GetPoints().GetData()))
        corners[rows < 0] = 0
        points = vtkPoints()
        points.SetData(numpy_to_vtk(corners + np.where(rows[:, None] < 0, 0, places[rows]), deep=True))
        shapes.SetPoints(points)
        for k in range(frame.GetPointData().GetNumberOfArrays()):
            source = frame.GetPointData().GetArray(k)
            values = numpy_to_vtk(vtk_to_numpy(source)[rows], deep=True)
            values.SetName(source.GetName())
            shapes.GetPointData().AddArray(values)
        whole.AddInputData(shapes)
    whole.Update()
    return whole.GetOutput()


if __name__ == "__main__":
    writer = vtkXMLPolyDataWriter()
    writer.SetFileName(sys.argv[3])
    writer.SetInputData(assemble(Path(sys.argv[1]), float(sys.argv[2])))
    writer.Write()
